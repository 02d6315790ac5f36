import type { Position } from '#src/transit/place.ts';
import { datesFrom, scheduleFile } from './schedule-file.ts';

/** Wharves of Sydney Harbour. */
export const HARBOUR = {
  circularQuay: [-33.8607, 151.2116],
  milsonsPoint: [-33.8523, 151.2118],
  barangaroo: [-33.8644, 151.2012],
  pyrmontBay: [-33.8694, 151.1985],
  balmainEast: [-33.8576, 151.1957],
  manly: [-33.8004, 151.2838],
  watsonsBay: [-33.8437, 151.2815],
} satisfies Record<string, Position>;

const { circularQuay, milsonsPoint, barangaroo, pyrmontBay, balmainEast, manly, watsonsBay } = HARBOUR;

/** The paths of the ferries, drawn by hand. */
const PYRMONT_BAY_TO_THE_QUAY: Position[] = [
  pyrmontBay,
  [-33.868, 151.1995],
  [-33.866, 151.2003],
  barangaroo,
  [-33.863, 151.2003],
  [-33.86, 151.2],
  [-33.857, 151.2003],
  [-33.8545, 151.203],
  [-33.8533, 151.207],
  [-33.8528, 151.21],
  milsonsPoint,
  [-33.8535, 151.2124],
  [-33.8548, 151.2127],
  [-33.856, 151.2126],
  [-33.8575, 151.2121],
  [-33.859, 151.2118],
  circularQuay,
];
const BALMAIN_EAST_TO_BARANGAROO: Position[] = [
  balmainEast,
  [-33.8572, 151.1962],
  [-33.8575, 151.197],
  [-33.859, 151.1985],
  [-33.861, 151.1995],
  [-33.863, 151.2003],
  [-33.864, 151.2009],
  barangaroo,
];
const THE_QUAY_TO_MANLY: Position[] = [
  circularQuay,
  [-33.859, 151.2121],
  [-33.8565, 151.2135],
  [-33.855, 151.218],
  [-33.854, 151.24],
  [-33.84, 151.27],
  [-33.823, 151.279],
  [-33.808, 151.283],
  manly,
];
const MANLY_TO_WATSONS_BAY: Position[] = [
  manly,
  [-33.808, 151.2825],
  [-33.82, 151.278],
  [-33.83, 151.277],
  [-33.838, 151.2785],
  [-33.842, 151.2805],
  watsonsBay,
];

const DAYS = datesFrom('20261120', '20261212');

/** Ferries with their paths, and buses on the shores. */
export function harbourFile() {
  const place = (id: string, [lat, lng]: Position) => ({ id, name: `${id} Wharf`, lat, lng });
  const ferry = (id: string, shape: number, ...calls: [string, string][]) => ({
    id,
    route: 'F',
    shape,
    days: DAYS,
    calls,
  });
  const ferries = scheduleFile('sydneyferries', {
    stops: [
      place('CQ', circularQuay),
      place('MP', milsonsPoint),
      place('BG', barangaroo),
      place('PB', pyrmontBay),
      place('BE', balmainEast),
      place('MY', manly),
      place('WB', watsonsBay),
    ],
    routes: [{ id: 'F', mode: 'ferry' }],
    shapes: [PYRMONT_BAY_TO_THE_QUAY, BALMAIN_EAST_TO_BARANGAROO, THE_QUAY_TO_MANLY, MANLY_TO_WATSONS_BAY],
    trips: [
      ferry('west', 0, ['PB', '08:00'], ['BG', '08:05'], ['MP', '08:15'], ['CQ', '08:20']),
      ferry('short', 1, ['BE', '08:10'], ['BG', '08:15']),
      ferry('manly', 2, ['CQ', '08:30'], ['MY', '08:50']),
      ferry('heads', 3, ['MY', '09:00'], ['WB', '09:15']),
    ],
  });
  const buses = scheduleFile('buses', {
    stops: [
      { id: 'balmain-bus', lat: -33.8585, lng: 151.196 },
      { id: 'barangaroo-north', lat: -33.859, lng: 151.2012 },
      { id: 'barangaroo-south', lat: -33.863, lng: 151.2022 },
      { id: 'away', lat: -33.9, lng: 151.1 },
    ],
    trips: ['balmain-bus', 'barangaroo-north', 'barangaroo-south'].map((stop) => ({
      id: stop,
      days: DAYS,
      calls: [
        [stop, '08:00'],
        ['away', '08:30'],
      ],
    })),
  });
  return [ferries, buses] as const;
}
