import type { Profiler } from 'node:inspector/promises';
import { startCpuProfile } from '../cpu-profile.ts';

/** Shares of the processor time, by folder of `src`, package, Node module, or V8 itself. */
export type Shares = Record<string, number>;

const NOT_WORK = ['(idle)', '(root)'];
const PACKAGE = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//;
const OWN = /\/src\/([^/]+?)(?:\.ts|\/)/;

/** Starts a CPU profile; the returned function ends it. */
export async function profileRooms(): Promise<() => Promise<Shares>> {
  const stop = await startCpuProfile(100);
  return async () => sharesOf(await stop());
}

function sharesOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Shares {
  const rooms = new Map(nodes.map(({ id, callFrame }) => [id, roomOf(callFrame)]));
  const times: Record<string, number> = {};
  let all = 0;
  for (const [index, sample] of samples.entries()) {
    const room = rooms.get(sample);
    if (!room) continue;
    const time = timeDeltas[index] ?? 0;
    times[room] = (times[room] ?? 0) + time;
    all += time;
  }
  return Object.fromEntries(Object.entries(times).map(([room, time]) => [room, time / all]));
}

/** Null for idle time. */
function roomOf({ functionName, url }: Profiler.ProfileNode['callFrame']): string | null {
  if (NOT_WORK.includes(functionName)) return null;
  const [, packageName] = PACKAGE.exec(url) ?? [];
  if (packageName) return packageName;
  const [, room] = OWN.exec(url) ?? [];
  if (room) return `src/${room}`;
  if (url.startsWith('node:')) return url.replace('node:internal/', 'node:').split('/')[0] ?? url;
  return functionName || 'other';
}
