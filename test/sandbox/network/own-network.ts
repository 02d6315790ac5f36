import { loadNetwork } from '#sandbox/network/gtfs-network.ts';
import type { SandboxPoint, SandboxStop } from '#sandbox/network/network.ts';

export const { stops, lines, places } = loadNetwork();

export const CENTRAL = '200060';
export const DECOMMISSIONED = 'G99002099';

export const pointsById = new Map<string, { point: SandboxPoint; stop: SandboxStop }>();
for (const stop of stops) for (const point of stop.points) pointsById.set(point.id, { point, stop });

export const patterns = lines.flatMap((line) => line.patterns.map((pattern) => ({ line, pattern })));
export const called = new Set(patterns.flatMap(({ pattern }) => pattern.calls.map((call) => call.point)));

export function at(id: string): { point: SandboxPoint; stop: SandboxStop } {
  const found = pointsById.get(id);
  if (!found) throw new Error(`no point ${id}`);
  return found;
}

export function stopOf(id: string): SandboxStop {
  const stop = stops.find((candidate) => candidate.id === id);
  if (!stop) throw new Error(`no stop ${id}`);
  return stop;
}

export function metres(a: { lat: number; lng: number }, b: { lat: number; lng: number }): number {
  const eastward = (b.lng - a.lng) * Math.cos((a.lat * Math.PI) / 180);
  return Math.hypot(eastward, b.lat - a.lat) * 111_320;
}

export function minutesOf(clock: string): number {
  const [hours = 0, minutes = 0] = clock.split(':').map(Number);
  return hours * 60 + minutes;
}
