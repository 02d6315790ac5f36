import type { Answered, Day, Outcome } from './day.ts';
import { PLANS } from './demand.ts';

const OUTCOMES: readonly Outcome[] = ['fresh', 'stale', 'refused'];
const KINDS = ['departures', 'trips', 'nearby', 'search'] as const;
const DAY_MS = 86_400_000;

export interface Figures {
  callsPerThousand: number;
  mostCallsInASecond: number;
  callsInTheDay: number;
  lastCallAt: number;
  /** The age of departures only, because trips and nearby have other freshness windows. */
  oldestMs: number;
  refused: number;
}

export function figuresOf({ answered, calls }: Day): Figures {
  const today = calls.filter((call) => call < DAY_MS);
  const ages = agesOf(answered.filter(({ kind }) => kind === 'departures'));
  return {
    callsPerThousand: (calls.length / answered.length) * 1000,
    mostCallsInASecond: mostInASecond(calls),
    callsInTheDay: today.length,
    lastCallAt: today.at(-1) ?? 0,
    oldestMs: ages.at(-1) ?? 0,
    refused: answered.filter(({ outcome }) => outcome === 'refused').length,
  };
}

export function* describeDay(day: Day): Generator<string> {
  const { answered, calls } = day;
  const figures = figuresOf(day);
  yield `calls: ${calls.length}, ${figures.callsPerThousand.toFixed(1)} per 1,000 requests`;
  yield `most calls in any second: ${figures.mostCallsInASecond}; last call of the day at ${clockTime(figures.lastCallAt)}`;
  yield `calls by hour: ${callsByHour(calls).join(' ')}`;
  for (const [index, counts] of day.callsOfKind.entries()) {
    const kinds = [...counts].map(([kind, count]) => `${kind} ${count}`);
    yield `calls of day ${index + 1} by kind: ${kinds.join(', ')}`;
  }
  for (const kind of KINDS) {
    const all = answered.filter((one) => one.kind === kind);
    const refused = all.filter(({ outcome }) => outcome === 'refused').length;
    if (all.length > 0) yield `refused ${kind.padEnd(11)} ${refused} of ${all.length}`;
  }
  yield '';
  yield `share of requests, %   ${OUTCOMES.map((outcome) => outcome.padStart(10)).join('')}`;
  for (const plan of PLANS) {
    const ofPlan = answered.filter((one) => one.plan === plan);
    const shares = OUTCOMES.map((outcome) => share(ofPlan, outcome));
    yield `  ${plan.padEnd(20)} ${shares.map((text) => text.padStart(10)).join('')}`;
  }
  yield '';
  yield 'age of departures served, seconds        p50       p90       p99       max';
  for (const outcome of ['fresh', 'stale'] as const) {
    const ages = agesOf(answered.filter((one) => one.kind === 'departures' && one.outcome === outcome));
    const quantiles = [0.5, 0.9, 0.99, 1].map((quantile) => seconds(ages, quantile).padStart(10));
    yield `  ${outcome.padEnd(32)} ${quantiles.join('')}`;
  }
  yield '';
  yield 'first dropped or refused at';
  const names = ['background checks', 'stale responses', ...PLANS.map((plan) => `503 for ${plan}`)];
  for (const [index, moment] of givenWay(day).entries()) yield `  ${names[index]?.padEnd(20)} ${clockTime(moment)}`;
}

/** When each kind of work was first dropped, in the order in which it should be. */
export function givenWay({ answered, checksGivenUp }: Day): (number | undefined)[] {
  return [
    checksGivenUp[0],
    firstOf(answered, ({ outcome }) => outcome === 'stale'),
    ...PLANS.map((plan) => firstOf(answered, (one) => one.outcome === 'refused' && one.plan === plan)),
  ];
}

/** The figures of days with feeds only. */
export function liveFiguresOf({ answered, calls, callsOfKind, polls }: Day) {
  const journeys = answered.filter(({ kind }) => kind === 'trips');
  const callsFor = (kind: string) => callsOfKind[0]?.get(kind) ?? 0;
  const liveAges = answered.flatMap(({ isLive, age }) => (isLive && age !== null ? [age] : []));
  return {
    departuresRefused: answered.filter(({ kind, outcome }) => kind === 'departures' && outcome === 'refused').length,
    oldestLiveMs: liveAges.reduce((oldest, age) => Math.max(oldest, age), 0),
    tooOld: liveAges.filter((age) => age > 45_000).length,
    polls,
    otherCalls: calls.length - callsFor('trip') - callsFor('stopFinder'),
    journeysRefused: journeys.filter(({ outcome }) => outcome === 'refused').length / journeys.length,
  };
}

function firstOf(answered: readonly Answered[], is: (one: Answered) => boolean): number | undefined {
  return answered.find(is)?.at;
}

function agesOf(answered: readonly Answered[]): number[] {
  return answered.flatMap(({ age }) => (age === null ? [] : [age])).sort((one, other) => one - other);
}

function share(answered: readonly Answered[], outcome: Outcome): string {
  return ((answered.filter((one) => one.outcome === outcome).length / answered.length) * 100).toFixed(2);
}

function seconds(sorted: readonly number[], quantile: number): string {
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * quantile))];
  return value === undefined ? '-' : (value / 1000).toFixed(1);
}

/** The most calls in any second (sliding window). */
function mostInASecond(calls: readonly number[]): number {
  let most = 0;
  for (let first = 0, last = 0; last < calls.length; last++) {
    while ((calls[last] ?? 0) - (calls[first] ?? 0) >= 1000) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

function callsByHour(calls: readonly number[]): number[] {
  const hours = Array<number>(24).fill(0);
  for (const call of calls) {
    const hour = Math.floor(call / 3_600_000);
    if (hour < 24) hours[hour] = (hours[hour] ?? 0) + 1;
  }
  return hours;
}

function clockTime(moment: number | undefined): string {
  return moment === undefined ? 'never' : new Date(moment).toISOString().slice(11, 19);
}
