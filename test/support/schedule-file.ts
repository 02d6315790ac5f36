import { Int32Column, Uint8Column } from '#src/core/columns.ts';
import { MAY_ALIGHT, MAY_BOARD } from '#src/timetable/call-flags.ts';
import type {
  ScheduleFile,
  ScheduleRoute,
  ScheduleShapes,
  ScheduleStop,
  ScheduleTrip,
} from '#src/timetable/import/schedule-file.ts';
import type { FileId } from '#src/timetable/schedule-files.ts';
import { toDate, toDayNumber } from '#src/timetable/service-day.ts';
import type { Position } from '#src/transit/place.ts';

/** A call: the stop, and the time "HH:MM" or "HH:MM:SS" since the start of the service day, or seconds. */
type MadeCall = readonly [
  stop: string,
  arrival: string | number,
  other?: { departure?: string | number; flags?: number; headsign?: string; sequence?: number; load?: number },
];

export interface MadeTrip extends Partial<Omit<ScheduleTrip, 'route' | 'service' | 'calls' | 'callCount'>> {
  id: string;
  /** The ID of one of the routes. */
  route?: string;
  /** `YYYYMMDD` */
  days: readonly string[];
  calls: readonly MadeCall[];
}

export interface MadeSchedule {
  stops: readonly (Partial<ScheduleStop> & { id: string })[];
  /** Buses by default. */
  routes?: readonly (Partial<ScheduleRoute> & { id: string })[];
  trips: readonly MadeTrip[];
  /** The points of each shape; trips refer to one by its index. */
  shapes?: readonly (readonly Position[])[];
  /** `YYYYMMDD`; the days of the trips if absent. */
  firstDay?: string;
  lastDay?: string;
}

/** A file of the schedule as `loadScheduleFile` returns it. */
export function scheduleFile(id: FileId, made: MadeSchedule): ScheduleFile {
  const stops = made.stops.map((stop) => ({ ...STOP, name: stop.id, ...stop }));
  const routes = (made.routes ?? [{ id: 'R' }]).map((route) => ({ ...ROUTE, shortName: route.id, ...route }));
  const headsigns = [
    ...new Set(made.trips.flatMap(({ calls }) => calls.flatMap(([, , other]) => other?.headsign ?? []))),
  ];
  const days = made.trips.flatMap((trip) => trip.days).sort();
  const calls = made.trips.map((trip) =>
    trip.calls.map(([stop, arrival, { departure = arrival, flags, headsign, sequence, load = 0 } = {}], index) => ({
      sequence: sequence ?? index + 1,
      stop: stops.findIndex((other) => other.id === stop),
      arrival: toSeconds(arrival),
      departure: toSeconds(departure),
      flags: flags ?? MAY_BOARD + MAY_ALIGHT,
      headsign: headsign === undefined ? -1 : headsigns.indexOf(headsign),
      load,
      distance: -1,
    })),
  );
  return {
    id,
    report: {
      file: id,
      trips: made.trips.length,
      stopTimes: calls.flat().length,
      busiestDay: null,
      firstDay: made.firstDay ?? days[0] ?? '20261126',
      lastDay: made.lastDay ?? days.at(-1) ?? '20261126',
      leftOut: {},
    },
    stops,
    routes,
    services: made.trips.map((trip) => serviceOf(trip.days)),
    trips: made.trips.map(({ route = 'R', days: _days, calls: ofTrip, ...trip }, index) => ({
      ...TRIP,
      ...trip,
      route: routes.findIndex((other) => other.id === route),
      service: index,
      calls: index,
      callCount: ofTrip.length,
    })),
    calls: {
      get(trip) {
        const own = calls[trip.calls] ?? [];
        const column = (name: keyof (typeof own)[0]) => Int32Column.from(own, (call) => call[name]);
        return {
          count: own.length,
          startsAt: own[0]?.departure ?? 0,
          stop: column('stop'),
          arrival: column('arrival'),
          departure: column('departure'),
          flags: column('flags'),
          sequence: column('sequence'),
          headsign: column('headsign'),
          distance: column('distance'),
          load: column('load'),
        };
      },
    },
    headsigns,
    shapes: shapesOf(made.shapes ?? []),
  };
}

function shapesOf(made: readonly (readonly Position[])[]): ScheduleShapes {
  const points = made.flat();
  const start = [0];
  for (const shape of made) start.push((start.at(-1) as number) + shape.length);
  return {
    ids: new Map(made.map((_, number) => [String(number), number])),
    start: Int32Column.from(start),
    lat: Int32Column.from(points, ([lat]) => Math.round(lat * 1e6)),
    lng: Int32Column.from(points, ([, lng]) => Math.round(lng * 1e6)),
    distance: new Int32Column(points.length).fill(-1),
    pointsRead: Int32Column.from(made, ({ length }) => length),
  };
}

/** The dates from the first to the last, as `YYYYMMDD`. */
export function datesFrom(first: string, last: string): string[] {
  const from = toDayNumber(first) as number;
  return Array.from({ length: (toDayNumber(last) as number) - from + 1 }, (_, at) => toDate(from + at));
}

const STOP = { lat: -33.88, lng: 151.2, parentId: null, isStation: false, platformCode: null, wheelchair: 0 } as const;
const TRIP = { headsign: 'City', blockId: null, direction: 0, access: 0, shape: -1, shift: 0, headway: 0 } as const;
const ROUTE = {
  lineName: '',
  longName: '',
  mode: 'bus',
  agencyId: 'A',
  agencyName: 'Buses',
  network: null,
} as const;

function toSeconds(time: string | number): number {
  if (typeof time === 'number') return time;
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number);
  return hours * 3600 + minutes * 60 + seconds;
}

function serviceOf(dates: readonly string[]) {
  const numbers = dates.map((date) => toDayNumber(date) as number);
  const firstDay = Math.min(...numbers);
  const days = new Uint8Column(numbers.length === 0 ? 0 : ((Math.max(...numbers) - firstDay) >> 3) + 1);
  for (const number of numbers) {
    const bit = number - firstDay;
    days[bit >> 3] = days.valueAt(bit >> 3) | (1 << (bit & 7));
  }
  return { firstDay: numbers.length === 0 ? 0 : firstDay, days };
}
