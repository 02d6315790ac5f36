import { loadNetwork } from '#sandbox/network/gtfs-network.ts';
import type { SandboxNetwork } from '#sandbox/network/network.ts';
import { indexNetwork } from '#sandbox/network/network-index.ts';
import { networkMap } from '#sandbox/network/network-map.ts';
import { findRehearsalCode } from '#sandbox/rehearsals.ts';
import { pointNaming } from '#sandbox/responses/location.ts';
import type { Config } from '../config.ts';
import { toMode } from '../efa/product-class.ts';
import type { QueryUpstream } from '../efa/query-upstream.ts';
import { toRequest } from '../efa/request.ts';
import { loadBuiltIn } from '../stops/file.ts';
import { noPlannerStops, type PlannerStops, plannerStops } from '../stops/named-stops.ts';
import { type StopRecord, tableOf } from '../stops/table.ts';
import type { Mode } from '../transit/mode.ts';
import { alwaysClosed } from '../upstream/breaker.ts';
import { type ProtectionOptions, protectUpstream } from '../upstream/protection.ts';

/** Returns the base URL of feeds and schedule files: the trip planner's URL without its path. */
export function baseOf(url: string): string {
  return url.replace(/\/v1\/tp$/, '');
}

/** The key for an upstream on this machine, which needs none. */
const NO_KEY = '';

/** The address and keys of upstream, or of the embedded sandbox. */
export interface Upstream {
  url: string;
  /** Name of the source: the URL, or `sandbox`. */
  source: string;
  apiKeys: readonly string[];
  isSandbox: boolean;
  /** The sandbox's lines, for the start page; null for a real upstream. */
  networkMap: ReturnType<typeof networkMap> | null;
  /** Whether upstream has a schedule file at this path; the sandbox lacks some. */
  servesFile: (path: string) => boolean;
  /** Loads the bundled list of stops; an empty one for the sandbox. */
  loadStops: typeof loadBuiltIn;
  planner: PlannerStops;
  close(): Promise<void>;
}

/** Returns upstream's address and keys. Without a key it starts the embedded sandbox as upstream. */
export async function openUpstream({ upstream }: Config, { now }: { now: () => number }): Promise<Upstream> {
  if (upstream.kind === 'real') {
    const { url, apiKeys } = upstream;
    return {
      url,
      source: url,
      apiKeys: apiKeys.length > 0 ? apiKeys : [NO_KEY],
      isSandbox: false,
      networkMap: null,
      servesFile: () => true,
      loadStops: loadBuiltIn,
      planner: noPlannerStops,
      close: async () => {},
    };
  }
  // Imported here so that a server with a real upstream does not load the sandbox and its protobuf encoder.
  const { startSandbox } = await import('#sandbox/server.ts');
  const { isSchedule: servesFile } = await import('#sandbox/schedule/schedule.ts');
  const apiKey = crypto.randomUUID();
  const network = loadNetwork();
  const sandbox = await startSandbox({ apiKey, now: () => new Date(now()), network });
  return {
    url: sandbox.url,
    source: 'sandbox',
    apiKeys: [apiKey],
    isSandbox: true,
    servesFile,
    networkMap: networkMap(network, toRailOrFerry),
    loadStops: () => tableOf([], { dataDate: new Date(now()).toISOString().slice(0, 10), source: 'sandbox' }),
    planner: plannerStops(tableOf(listStops(network))),
    close: sandbox.close,
  };
}

/** Returns the sandbox's stops and platforms as records for the register. */
function listStops(network: SandboxNetwork): StopRecord[] {
  return indexNetwork(network).stops.flatMap(({ id, name, locality: suburb, lat, lng, points, classes }) => {
    const modes = classes.flatMap((productClass) => toMode(productClass) ?? []);
    const record = { stop_id: id, name, suburb, lat, lng, modes, parent_id: null, is_platform: false };
    const platforms = points.map((node) => ({
      stop_id: node.id,
      name: pointNaming(node).long,
      suburb,
      lat: node.lat,
      lng: node.lng,
      modes: node.calls.flatMap(({ pattern }) => toMode(pattern.line.product.class) ?? []),
      parent_id: id,
      is_platform: true,
    }));
    return [record, ...platforms];
  });
}

/** The mode if it is on rails or a ferry, else null: bus lines would cover the whole map. */
function toRailOrFerry(productClass: number): Mode | null {
  const mode = toMode(productClass);
  return mode && ['train', 'metro', 'lightrail', 'ferry'].includes(mode) ? mode : null;
}

/**
 * Wraps `queryUpstream` so that the sandbox can rehearse failures. Each rehearsed failure gets a protection of its own, built
 * from `guard`, so it affects no other request and has the same outcome every time.
 */
export function withRehearsals(queryUpstream: QueryUpstream, guard: ProtectionOptions): QueryUpstream {
  const isolated = new Map<string, QueryUpstream>();

  function queryFor(code: string): QueryUpstream {
    const isolatedQuery = isolated.get(code) ?? protectUpstream({ ...guard, breaker: alwaysClosed }).queryUpstream;
    isolated.set(code, isolatedQuery);
    return isolatedQuery;
  }

  return (request, options) => {
    const { endpoint, query } = toRequest(request);
    const code = findRehearsalCode(endpoint, new URLSearchParams(query));
    return (code === null ? queryUpstream : queryFor(code))(request, options);
  };
}
