import type { PatternNode } from '../network/network-index.ts';
import { type Run, runIdentifiers, tripCode } from '../timetable/run.ts';
import { seedOf, trait } from '../trait.ts';

/*
 * The `transportation` of departures and legs. `name` is always product and number. Lines without a short name (coaches, school
 * buses) have no `disassembledName`. `description` is the line's; the headsign is `destination.name`.
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

/** `attributes` are names of vehicle features such as "AVM_LOWFLOORVEHICLE"; absent if there are none. */
export function boardTransportation(run: Run, attributes: readonly string[] = [], isExtraTrip = false): object {
  const { pattern } = run;
  const { line } = pattern;
  const productName = isExtraTrip ? `1001_${line.route ?? line.number}` : line.product.name;
  const origin = pattern.points[0]?.home;
  return {
    ...lineShape(pattern, productName),
    destination: destinationShape(pattern),
    properties: {
      isTTB: true,
      tripCode: isExtraTrip ? 65_529 : tripCode(run),
      lineDisplay: 'LINE',
      globalId: feedOf(pattern),
      ...operatorProperties(pattern),
      ...(attributes.length > 0 && { attributes }),
      ...(!isExtraTrip && { gtfsId: `${feedOf(pattern)}.${line.id.replace(':', '-')}.1.TA.${tripCode(run)}.sj2` }),
    },
    origin: { id: origin?.stopId, name: `${origin?.name}, ${origin?.locality}`, type: 'stop' },
    iconId: line.product.id,
  };
}

export function journeyTransportation(run: Run, isReported: boolean, attributes: readonly string[]): object {
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
      ...runIdentifiers(run, isReported),
      ...operatorProperties(pattern),
      ...(attributes.length > 0 && { attributes }),
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

/** The line without a run. */
export function lineShape({ line, direction }: PatternNode, productName: string): object {
  return {
    id: `${line.id}: :${direction === 0 ? 'H' : 'R'}:sj2`,
    name: `${productName} ${line.number}`,
    ...(line.route !== null && { disassembledName: line.route }),
    number: line.number,
    description: line.description,
    product: { id: line.product.id, class: line.product.class, name: productName, iconId: line.product.class },
    operator: { id: operatorId(line.operator), name: line.operator },
  };
}

function destinationShape(pattern: PatternNode): object {
  return { id: pattern.points.at(-1)?.home.stopId, name: pattern.headsign, type: 'stop' };
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
