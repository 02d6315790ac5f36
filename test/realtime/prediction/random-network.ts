import fc from 'fast-check';
import type { FeedSpec, StopSpec, TripSpec } from '../feed-bytes.ts';
import { at, clock, STOPS, TODAY, YESTERDAY } from './predicted.ts';

/** A network of a few runs, and what a feed says about them, as fast-check draws them. */
export interface RandomNetwork {
  runs: RandomRun[];
  trips: TripSpec[];
  vehicles: NonNullable<FeedSpec['vehicles']>;
}

interface RandomRun {
  id: string;
  days: string[];
  blockId: string | null;
  calls: (readonly [stop: string, arrival: string, other: { departure: string; sequence: number }])[];
}

const TOMORROW = '20261128';
/** Minutes of a day. */
const DAY = 24 * 60;
const stopIds = STOPS.map(({ id }) => id).filter((id) => id !== 'S');
const sparse = <Value extends object>(
  of: { [Name in keyof Value]-?: fc.Arbitrary<Value[Name]> },
  keys: (keyof Value)[] = [],
) => fc.record(of, { requiredKeys: keys as never }) as unknown as fc.Arbitrary<Value>;

/** Few stops, so that runs call twice at one and different runs share theirs. */
const callSpec = fc.record({
  stop: fc.constantFrom(...stopIds.slice(0, 5), 'S1', 'S2'),
  runs: fc.constantFrom(0, 1, 2, 3, 7, 20),
  stands: fc.constantFrom(0, 0, 0, 1, 4),
});

const runSpec = fc
  .record({
    /** Night runs belong to yesterday, and its times go on past midnight. */
    start: fc.constantFrom(-90, -30, -10, -3, 0, 2, 8, 25, 300),
    isOfYesterday: fc.boolean(),
    isDaily: fc.boolean(),
    block: fc.constantFrom(null, 'one', 'two'),
    step: fc.constantFrom(1, 10),
    calls: fc.array(callSpec, { minLength: 2, maxLength: 7 }),
  })
  .map(({ start, isOfYesterday, isDaily, block, step, calls }): Omit<RandomRun, 'id'> => {
    let minute = start + (isOfYesterday ? DAY : 0);
    return {
      days: isDaily ? [YESTERDAY, TODAY, TOMORROW] : [isOfYesterday ? YESTERDAY : TODAY],
      blockId: block,
      calls: calls.map(({ stop, runs, stands }, index) => {
        const arrival = clock(minute + (index === 0 ? 0 : runs));
        minute += (index === 0 ? 0 : runs) + stands;
        return [stop, arrival, { departure: clock(minute), sequence: (index + 1) * step }] as const;
      }),
    };
  });

const delay = fc.oneof(
  fc.constantFrom(0, 60, -60, 300),
  fc.integer({ min: -2400, max: 4000 }),
  fc.integer({ min: -80_000, max: 80_000 }),
);
/** Minutes from the planned time, now and then far away. */
const off = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(0, 0.5, -2, 5, 20) },
  { weight: 4, arbitrary: fc.integer({ min: -35, max: 60 }) },
  { weight: 1, arbitrary: fc.integer({ min: -3000, max: 3000 }) },
);
const event = sparse<{ off?: number; delay?: number }>({ off, delay });

interface StopDraw {
  call: number;
  isNamed: boolean;
  isNumbered: boolean;
  relationship?: number;
  arrival?: { off?: number; delay?: number };
  departure?: { off?: number; delay?: number };
  stop?: string;
  assigned?: string;
  occupancy?: number;
}
const stopDraw = sparse<StopDraw>(
  {
    call: fc.nat(7),
    isNamed: fc.boolean(),
    isNumbered: fc.boolean(),
    relationship: fc.constantFrom(0, 0, 0, 1, 2, 3),
    arrival: event,
    departure: event,
    /** Another stop than that of the call. */
    stop: fc.constantFrom(...stopIds, 'S', 'elsewhere', 'constructor'),
    assigned: fc.constantFrom('S1', 'S2', 'B', 'elsewhere'),
    occupancy: fc.nat(6),
  },
  ['call', 'isNamed', 'isNumbered'],
);
/** Most feeds list the calls of a run in order, many from the vehicle on. */
const stopsDraw: fc.Arbitrary<StopDraw[]> = fc.oneof(
  fc.array(stopDraw, { maxLength: 8 }),
  fc.array(stopDraw, { maxLength: 8 }).map((stops) => stops.toSorted((one, other) => one.call - other.call)),
  fc
    .tuple(fc.nat(3), fc.array(stopDraw, { maxLength: 8 }))
    .map(([first, stops]) =>
      stops.map(({ stop: _, ...stop }, index) => ({ ...stop, call: first + index, isNamed: true })),
    ),
);

const tripDraw = fc.record({
  run: fc.nat(5),
  name: fc.constantFrom('same', 'same', 'same', 'suffix', 'other'),
  relationship: fc.constantFrom(0, 0, 0, 0, 1, 2, 3, 5, 6, 7, 8, 42),
  date: fc.constantFrom('run', 'run', TODAY, YESTERDAY, TOMORROW, '20200101', '99991231', null),
  startTime: fc.constantFrom(null, null, '09:10:00', '33:00:00', '00:00:00'),
  route: fc.constantFrom(null, 'R', 'unknown', 'RTTA_REV'),
  delay: fc.option(delay, { freq: 5 }),
  timestamp: fc.option(fc.integer({ min: -600, max: 0 }), { freq: 2 }),
  copy: fc.option(
    sparse<NonNullable<TripSpec['copy']>>({
      tripId: fc.constantFrom('copy', 'run0'),
      startDate: fc.constantFrom(TODAY, YESTERDAY, '99991231'),
      startTime: fc.constantFrom('09:20:00', '10:00:00', '999:00:00'),
    }),
  ),
  stops: stopsDraw,
});

const vehicleDraw = fc.record({
  run: fc.nat(5),
  call: fc.nat(7),
  isNumbered: fc.boolean(),
  currentStatus: fc.constantFrom(0, 1, 2),
  age: fc.constantFrom(0, 30, 500),
});

export const randomNetwork: fc.Arbitrary<RandomNetwork> = fc
  .record({
    runs: fc.array(runSpec, { minLength: 1, maxLength: 5 }),
    trips: fc.array(tripDraw, { minLength: 1, maxLength: 6 }),
    vehicles: fc.array(vehicleDraw, { maxLength: 2 }),
  })
  .map(({ runs: drawn, trips, vehicles }) => {
    const runs = drawn.map((run, index) => ({ id: `run${index}`, ...run }));
    const runAt = (index: number) => runs[index % runs.length] as RandomRun;
    return {
      runs,
      trips: trips.map((trip) => toTrip(trip, runAt(trip.run))),
      vehicles: vehicles.map(({ run, call, isNumbered, currentStatus, age }) => {
        const { id, calls } = runAt(run);
        const [stopId, , { sequence }] = calls[call % calls.length] as RandomRun['calls'][number];
        return {
          trip: { tripId: id },
          position: { latitude: -33, longitude: 151 },
          timestamp: at(0) - age,
          currentStatus,
          ...(isNumbered ? { currentStopSequence: sequence } : { stopId }),
        };
      }),
    };
  });

function toTrip(draw: typeof tripDraw extends fc.Arbitrary<infer Draw> ? Draw : never, run: RandomRun): TripSpec {
  const date = draw.date === 'run' ? run.days.at(run.days.length === 3 ? 1 : 0) : draw.date;
  return {
    tripId: draw.name === 'same' ? run.id : draw.name === 'suffix' ? `${run.id}_2` : 'other',
    scheduleRelationship: draw.relationship,
    ...(date && { startDate: date }),
    ...(draw.startTime !== null && { startTime: draw.startTime }),
    ...(draw.route !== null && { routeId: draw.route }),
    ...(draw.delay !== null && { delay: draw.delay }),
    ...(draw.timestamp !== null && { timestamp: at(0) + draw.timestamp }),
    ...(draw.copy && { copy: draw.copy }),
    stops: draw.stops.map((stop) => toStop(stop, run)),
  };
}

/** Seconds since 1970 of a time "HH:MM:SS" of the day on which the run is near the feed. */
function momentOf(time: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number);
  const minute = hours * 60 + minutes + seconds / 60 - 9 * 60;
  return at(minute > DAY / 2 ? minute - DAY : minute);
}

function toStop(draw: StopDraw, run: RandomRun): StopSpec {
  const [stopId, arrival, { departure, sequence }] = run.calls[
    draw.call % run.calls.length
  ] as RandomRun['calls'][number];
  const toEvent = (planned: string, { off: minutes, delay: seconds }: { off?: number; delay?: number }) => ({
    ...(minutes !== undefined && { time: momentOf(planned) + Math.round(minutes * 60) }),
    ...(seconds !== undefined && { delay: seconds }),
  });
  const named = draw.stop ?? (draw.isNamed || !draw.isNumbered ? stopId : undefined);
  return {
    ...(named !== undefined && { stopId: named }),
    ...(draw.isNumbered && { stopSequence: sequence }),
    ...(draw.relationship !== undefined && { scheduleRelationship: draw.relationship }),
    ...(draw.arrival && { arrival: toEvent(arrival, draw.arrival) }),
    ...(draw.departure && { departure: toEvent(departure, draw.departure) }),
    ...(draw.assigned !== undefined && { assignedStopId: draw.assigned }),
    ...(draw.occupancy !== undefined && { occupancy: draw.occupancy }),
  };
}
