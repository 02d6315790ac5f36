import type { PatternNode } from '../network/network-index.ts';
import type { Run } from '../timetable/run.ts';
import { seedOf, trait } from '../trait.ts';

/*
 * `transportation` of departures and legs. `name` is always product and number. Lines without a short name (coaches,
 * school buses) have no `disassembledName`. `description` is the line's; the headsign is `destination.name`.
 */

const SYDNEY_OPERATORS: Record<string, string> = {
  'Sydney Trains': 'x0001',
  'NSW TrainLink': 'x0001',
  'Sydney Metro': 'SMNW',
  'Sydney Light Rail': 'SLR',
  'Sydney Ferries': 'SF',
  'Manly Fast Ferries': 'MFF',
};

const FEED_OF_CLASS: Record<number, string> = { 1: '3001', 2: '3001', 4: '3004', 5: '3002', 9: '3003' };

export function boardTransportation(run: Run, isExtraTrip = false): object {
  const { pattern } = run;
  const { line } = pattern;
  const productName = isExtraTrip ? `1001_${line.route ?? line.number}` : line.product.name;
  const origin = pattern.points[0]?.home.stop;
  return {
    ...lineShape(pattern, productName),
    destination: destinationShape(pattern),
    properties: {
      isTTB: true,
      tripCode: isExtraTrip ? 65_529 : tripCode(run),
      lineDisplay: 'LINE',
      globalId: feedOf(pattern),
      ...operatorProperties(pattern),
      ...(!isExtraTrip && { gtfsId: `${feedOf(pattern)}.${line.id.replace(':', '-')}.1.TA.${tripCode(run)}.sj2` }),
    },
    origin: { id: origin?.stopId, name: `${origin?.name}, ${origin?.locality}`, type: 'stop' },
    iconId: line.product.id,
  };
}

export function journeyTransportation(run: Run): object {
  const { pattern } = run;
  return {
    ...lineShape(pattern, pattern.line.product.name),
    destination: destinationShape(pattern),
    properties: {
      isTTB: true,
      tripCode: tripCode(run),
      timetablePeriod: 'NSW JP',
      lineDisplay: 'LINE',
      globalId: feedOf(pattern),
      ...vehicleProperties(run),
      ...operatorProperties(pattern),
    },
    iconId: pattern.line.product.id,
  };
}

/** A walk: class 99 within a stop, class 100 along streets. */
export function footTransportation(productClass: 99 | 100): object {
  return {
    product: { class: productClass, name: 'footpath', iconId: productClass },
    properties: { tripCode: 0, lineDisplay: 'LINE' },
  };
}

/** Identifiers of the run in the realtime feeds; lines that never report have none. */
export function vehicleProperties(run: Run): { RealtimeTripId?: string; AVMSTripID?: string } {
  if (!run.pattern.line.monitored) return {};
  const id = realtimeTripId(run);
  return { RealtimeTripId: id, AVMSTripID: id };
}

function lineShape({ line, pattern }: PatternNode, productName: string): object {
  return {
    id: `${line.id}: :${pattern.direction === 0 ? 'H' : 'R'}:sj2`,
    name: `${productName} ${line.number}`,
    ...(line.route !== null && { disassembledName: line.route }),
    number: line.number,
    description: line.description,
    product: { id: line.product.id, class: line.product.class, name: productName, iconId: line.product.class },
    operator: { id: operatorId(line.operator), name: line.operator },
  };
}

function destinationShape(pattern: PatternNode): object {
  return { id: pattern.points.at(-1)?.home.stop.stopId, name: pattern.pattern.headsign, type: 'stop' };
}

function operatorId(operator: string): string {
  return SYDNEY_OPERATORS[operator] ?? String(2400 + Math.floor(trait(seedOf(operator), 1) * 200));
}

function operatorProperties({ line }: PatternNode): object {
  if (line.product.class === 4) return { OperatorURL: 'http://transportnsw.info', FrequencyLine: '1' };
  return line.product.class === 9 ? {} : { OperatorURL: 'http://transportnsw.info' };
}

function feedOf(pattern: PatternNode): string {
  return FEED_OF_CLASS[pattern.line.product.class] ?? '3000';
}

/** Number of the run, unique within its line and service day. */
function tripCode(run: Run): number {
  return 1 + run.pattern.ordinal * 2000 + run.minute;
}

/** Each mode spells its identifiers in another way. No two runs have the same one. */
function realtimeTripId(run: Run): string {
  const { pattern, minute, day } = run;
  const clock = `${String(Math.floor(minute / 60)).padStart(2, '0')}${String(minute % 60).padStart(2, '0')}`;
  const number = pattern.index * 2000 + minute;
  switch (pattern.line.product.class) {
    case 1:
    case 2:
      return `${clock.slice(0, 2)}-${'ABCDEFGH'[pattern.index % 8]}.${day % 10_000}.${pattern.index}.${minute}.B.8.${90_000_000 + number}`;
    case 4:
      return `${day}-${number}:1000`;
    case 9:
      return `${pattern.line.route ?? 'FY'}${clock}-${pattern.pattern.direction === 0 ? 'OUT' : 'IN'}.${day}.${pattern.ordinal}.${clock}`;
    default:
      return String((day % 100) * 1_000_000 + number);
  }
}
