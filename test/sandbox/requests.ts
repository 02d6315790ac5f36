import { onTestFinished } from 'vitest';
import type { SandboxNetwork } from '#sandbox/network/network.ts';
import { type Sandbox, startSandbox } from '#sandbox/server.ts';
import { SMALL_NETWORK } from './small-network.ts';

export const API_KEY = 'sandbox-key';

/** A sandbox for the current test, closed at its end. `now` is in UTC. */
export async function sandboxAt(now: string, options: { network?: SandboxNetwork } = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({
    apiKey: API_KEY,
    now: () => new Date(now),
    network: SMALL_NETWORK,
    ...options,
  });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

type Query = Record<string, string>;

const COMMON = { outputFormat: 'rapidJSON', coordOutputFormat: 'EPSG:4326' };

export function send(sandbox: Sandbox, endpoint: string, query: Query, init: RequestInit = {}): Promise<Response> {
  const parameters = new URLSearchParams({ ...COMMON, ...query });
  return fetch(`${sandbox.url}/${endpoint}?${parameters}`, {
    headers: { authorization: `apikey ${API_KEY}` },
    ...init,
  });
}

async function answer<Body>(sandbox: Sandbox, endpoint: string, query: Query): Promise<Body> {
  const response = await send(sandbox, endpoint, query);
  return (await response.json()) as Body;
}

export interface Message {
  code: number;
  text: string;
}

export interface Place {
  id: string;
  name: string;
  disassembledName?: string;
  type: string;
  coord?: [number, number];
  isBest?: boolean;
  matchQuality?: number;
  modes?: number[];
  productClasses?: number[];
  assignedStops?: Place[];
  parent?: Place;
  properties?: Record<string, unknown>;
}

interface Transportation {
  id: string;
  name: string;
  disassembledName?: string;
  number?: string;
  product: { id: number; class: number; name: string };
  destination: { name: string };
  properties: { RealtimeTripId?: string; AVMSTripID?: string; attributes?: string[]; tripCode?: number };
}

export interface Info {
  id: string;
  subtitle?: string;
  infoLinks: { subtitle: string }[];
}

export interface StopEvent {
  isCancelled?: true;
  isRealtimeControlled?: true;
  realtimeStatus?: string[];
  location: Place;
  departureTimePlanned: string;
  departureTimeEstimated?: string;
  transportation: Transportation;
  infos?: Info[];
  properties: Record<string, string>;
}

export interface BoardResponse {
  systemMessages: Message[];
  locations?: Place[];
  stopEvents?: StopEvent[];
}

export type LegEnd = Place & {
  departureTimePlanned?: string;
  departureTimeEstimated?: string;
  arrivalTimePlanned?: string;
  arrivalTimeEstimated?: string;
};

export interface Leg {
  duration: number;
  distance?: number;
  isRealtimeControlled?: true;
  origin: LegEnd;
  destination: LegEnd;
  transportation: Transportation;
  stopSequence?: LegEnd[];
  footPathInfo?: { position: string; duration: number }[];
  interchange?: { desc: string; type: number; coords: [number, number][] };
  coords: [number, number][];
  infos: Info[];
  properties?: Record<string, string>;
}

export interface JourneyShape {
  rating?: number;
  isAdditional: boolean;
  interchanges: number;
  legs: Leg[];
}

export interface TripAnswer {
  systemMessages: Message[];
  journeys?: JourneyShape[];
}

export function board(sandbox: Sandbox, stop: string, query: Query = {}): Promise<BoardResponse> {
  const common = { mode: 'direct', type_dm: 'any', name_dm: stop, depArrMacro: 'dep', TfNSWDM: 'true' };
  return answer(sandbox, 'departure_mon', { ...common, ...query });
}

export function trip(sandbox: Sandbox, from: string, to: string, query: Query = {}): Promise<TripAnswer> {
  const ends = { type_origin: 'any', name_origin: from, type_destination: 'any', name_destination: to };
  return answer(sandbox, 'trip', { ...ends, depArrMacro: 'dep', calcNumberOfTrips: '6', TfNSWTR: 'true', ...query });
}

export function places(sandbox: Sandbox, endpoint: 'stop_finder' | 'coord', query: Query) {
  return answer<{ systemMessages?: Message[]; locations?: Place[] }>(sandbox, endpoint, query);
}
