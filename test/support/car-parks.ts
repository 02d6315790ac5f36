import { CarParks } from '#src/carparks/car-parks.ts';
import { type CarParkFailure, FailedCall } from '#src/carparks/client.ts';
import { type FacilityReport, parseReport } from '#src/carparks/facility.ts';
import type { CarParkStore } from '#src/carparks/store.ts';
import type { Clock } from '#src/core/clock.ts';
import { ProcessMeter } from '#src/upstream/budget/meter.ts';

const SYDNEY_MS = 11 * 3600_000;
const EPOCH_2000_MS = Date.UTC(2000, 0, 1);

/** Upstream's record of a car park, in the form of recorded ones, in the summer of Sydney. */
export function facilityJson(overrides: {
  id?: string;
  spots?: string | number | null;
  total?: string | null;
  loop?: string | null;
  zones?: object[];
  at?: number;
  tsn?: string | null;
  lat?: string;
  lng?: string;
}) {
  const { id = '486', spots = '216', total = '36', loop = null, zones = [], at = Date.now() } = overrides;
  const { tsn = '213110', lat = '-33.888104', lng = '151.126577' } = overrides;
  return {
    tsn,
    time: String(Math.floor((at - EPOCH_2000_MS) / 1000)),
    spots,
    zones,
    ParkID: '1',
    location: { suburb: 'Ashfield', address: 'Brown Street', latitude: lat, longitude: lng },
    occupancy: { loop, total, monthlies: '0', open_gate: '0', transients: '22' },
    MessageDate: new Date(at + SYDNEY_MS).toISOString().slice(0, 19),
    facility_id: id,
    facility_name: 'Park&Ride - Ashfield',
    tfnsw_facility_id: '213110TPR001',
  };
}

/** An upstream of car parks: its records by ID, or why it fails. Counts its calls. */
export interface FakeUpstream {
  facilities: Map<string, object>;
  failure: CarParkFailure | null;
  /** Whether it never responds. */
  isSilent?: boolean;
  calls: string[];
}

/** Car parks in front of an upstream without HTTP. */
export function fakeCarParks(options: {
  now: () => number;
  store?: CarParkStore;
  callsADay?: number;
  upstream?: FakeUpstream;
}) {
  const { now, store, callsADay = 1e9 } = options;
  const upstream: FakeUpstream = options.upstream ?? { facilities: new Map(), failure: null, calls: [] };
  const clock: Clock = {
    now,
    after(delayMs, task) {
      const timer = setTimeout(task, delayMs).unref();
      return () => clearTimeout(timer);
    },
  };
  function call<Result>(name: string, result: () => Result): Promise<Result> {
    upstream.calls.push(name);
    if (upstream.isSilent) return new Promise(() => {});
    if (upstream.failure) return Promise.reject(new FailedCall(upstream.failure, `upstream: ${upstream.failure}`));
    return Promise.resolve(result());
  }
  const client = {
    fetchList: () =>
      call('list', () => new Map([...upstream.facilities.keys()].map((id) => [id, `Car park ${id}`] as const))),
    fetchReport: (id: string) =>
      call(id, (): FacilityReport => {
        const json = upstream.facilities.get(id);
        if (!json) throw new FailedCall('gone', 'status 404');
        const report = parseReport(id, json);
        if (!report) throw new FailedCall('unusable', 'the response has another form');
        return report;
      }),
    close: async () => {},
  };
  const log = { info() {}, warn() {}, error() {} };
  const meter = new ProcessMeter({ rps: Number.POSITIVE_INFINITY, dailyBudget: callsADay }, now);
  const carParks = new CarParks({ client, meter, callsADay, clock, log, ...(store && { store }) });
  return { carParks, upstream };
}

/** One car park at Ashfield, whose reading is always of now. */
export function oneCarPark(now: () => number): CarParks {
  const { carParks, upstream } = fakeCarParks({ now });
  upstream.facilities = {
    ...upstream.facilities,
    keys: () => ['486'].values(),
    get: (id: string) => (id === '486' ? facilityJson({ at: now() }) : undefined),
  } as never;
  return carParks;
}
