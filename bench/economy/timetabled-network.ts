import type { SandboxLine, SandboxNetwork, SandboxPoint, SandboxStop } from '#sandbox/network/network.ts';
import { stopId } from './network.ts';
import { createRandom } from './random.ts';
import { placeOfStop } from './real-places.ts';

/*
 * A network of any size for the days with feeds. Every tenth stop is a station with trains and buses, some stops have metro,
 * light rail or ferries, and all others are bus poles. Two lines stop at each, in both directions.
 */

const isPole = (stop: number) => stop % 10 !== 0 && ![7, 17, 27].includes(stop % 50);

interface ModeOfNetwork {
  product: SandboxLine['product'];
  routes: readonly string[];
  stopsOfALine: number;
  /** Headways in minutes; each line has one of them. */
  headways: readonly number[];
  serves(stop: number): boolean;
}

const MODES: readonly ModeOfNetwork[] = [
  {
    product: { id: 1, class: 1, name: 'Sydney Trains Network' },
    routes: ['T1', 'T2', 'T4', 'T8'],
    stopsOfALine: 20,
    headways: [8, 10, 15],
    serves: (stop) => stop % 10 === 0,
  },
  {
    product: { id: 24, class: 2, name: 'Sydney Metro Network' },
    routes: ['M1'],
    stopsOfALine: 15,
    headways: [5],
    serves: (stop) => stop % 50 === 7,
  },
  {
    product: { id: 13, class: 4, name: 'Sydney Light Rail Network' },
    routes: ['L1', 'L2', 'L3'],
    stopsOfALine: 15,
    headways: [8],
    serves: (stop) => stop % 50 === 17,
  },
  {
    product: { id: 10, class: 9, name: 'Sydney Ferries Network' },
    // Responses have no trip ID, so two trips of a line in the same minute would look the same.
    routes: Array.from({ length: 500 }, (_, line) => `F${line + 1}`),
    stopsOfALine: 6,
    headways: [20, 30],
    serves: (stop) => stop % 50 === 27,
  },
  {
    product: { id: 5, class: 5, name: 'Sydney Buses Network' },
    routes: [],
    stopsOfALine: 25,
    headways: [10, 15, 20, 30],
    serves: (stop) => ![7, 17, 27].includes(stop % 50),
  },
];
const LINES_AT_A_STOP = 2;
const DAILY = { weekdays: Array.from({ length: 7 }, () => true), firstDay: 0, lastDay: 1_000_000 };
const FIRST_MINUTE = 4 * 60 + 30;
/** Lines end between 22:30 and 25:30, so that feeds shrink slowly. */
const lastMinuteOf = (line: number) => 22 * 60 + 30 + ((line * 37) % 180);

export function createTimetabledNetwork(stops: number): SandboxNetwork {
  const random = createRandom(7);
  const numbers = Array.from({ length: stops }, (_, stop) => stop);
  const points = new Map<number, SandboxPoint[]>(numbers.map((stop) => [stop, []]));
  const lines: SandboxLine[] = [];

  function addLine(mode: ModeOfNetwork, calls: readonly number[]): void {
    const number = lines.length + 1;
    const route = mode.routes.length > 0 ? (mode.routes[number % mode.routes.length] ?? '') : String(number);
    const minutes = calls.map((_, index) => index * 2);
    const everyMinutes = mode.headways[number % mode.headways.length] ?? 15;
    const patterns = [calls, calls.toReversed()].map((ofDirection, direction): SandboxLine['patterns'][number] => ({
      headsign: `Town ${ofDirection.at(-1)}`,
      direction: direction === 0 ? 0 : 1,
      wheelchairAccessible: true,
      calls: ofDirection.map((stop, index) => ({ point: addPoint(stop).id, minutes: minutes[index] ?? 0 })),
      services: [
        {
          calendar: DAILY,
          firstMinute: FIRST_MINUTE + (number % everyMinutes),
          lastMinute: lastMinuteOf(number),
          everyMinutes,
        },
      ],
    }));
    const description = `Line ${number}`;
    const name = `${route} Line`;
    lines.push({
      id: `nsw:${number}`,
      route,
      number: name,
      product: mode.product,
      operator: 'Sydney',
      description,
      monitored: true,
      patterns,
    });
  }

  function addPoint(stop: number): SandboxPoint {
    const here = points.get(stop) ?? [];
    const [pole] = here;
    if (pole && isPole(stop)) return pole;
    const number = here.length + 1;
    const point = {
      ...placeOfStop(stop),
      id: isPole(stop) ? stopId(stop) : `${stopId(stop)}${number}`,
      code: `P${number}`,
      platformName: `Platform ${number}`,
    };
    here.push(point);
    return point;
  }

  for (const mode of MODES) {
    const served = numbers.filter(mode.serves);
    for (let round = 0; round < LINES_AT_A_STOP; round++) {
      const order = served.map((stop) => ({ stop, at: random() })).sort((one, other) => one.at - other.at);
      for (let first = 0; first < order.length; first += mode.stopsOfALine) {
        const calls = order.slice(first, first + mode.stopsOfALine).map(({ stop }) => stop);
        if (calls.length > 1) addLine(mode, calls);
      }
    }
  }
  return { stops: numbers.map((stop) => toStop(stop, points.get(stop) ?? [])), lines, places: [] };
}

function toStop(stop: number, points: readonly SandboxPoint[]): SandboxStop {
  const id = isPole(stop) ? `G${stopId(stop)}` : stopId(stop);
  const name = `Stop ${stop} Station`;
  return {
    ...placeOfStop(stop),
    id,
    stopId: `1${stopId(stop)}`,
    name,
    locality: 'Sydney',
    wheelchairAccess: true,
    points,
  };
}
