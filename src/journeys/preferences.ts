import type { Preference } from '../transit/choices.ts';
import type { Found } from './raptor/labels.ts';
import type { Footpaths } from './raptor/lines.ts';
import type { Plan, PlanRequest } from './raptor/plan.ts';
import { searchUntilEnded, type Walk } from './raptor/query.ts';

/** By how many seconds a journey must be faster for one more change, and for each second more on foot. */
export const WORTH = {
  fewer_changes: { changeSeconds: 1200, onFoot: 0 },
  less_walking: { changeSeconds: 60, onFoot: 1 },
} as const satisfies Record<Preference, object>;

/** Searches for less walking stretch all walks by these factors. The greater one finds journeys that wait after a walk. */
export const WALK_FACTORS = [2, 8] as const;

export type WalkingRequest = PlanRequest & { footpaths: Footpaths };

/**
 * Plans journeys by a rider's preference. Further searches, with fewer rides or with slower walks, add journeys that take longer
 * but that the rider may prefer.
 */
export function planPreferred(
  prefer: Preference,
  plan: (request: PlanRequest) => Plan[],
  request: WalkingRequest,
  secondsOnFoot: (plan: Plan) => number,
): Plan[] {
  const { limit, isArrival } = request;
  const more = { ...request, limit: 2 * limit };
  const found = plan(more);
  const walks = found.filter((one) => one.rides.length === 0);
  const rides = found.filter((one) => one.rides.length > 0);
  const within = (secondsOf: (plan: Plan) => number) => boundAfter(rides, more, secondsOf);
  const add = (search: () => Plan[]) =>
    searchUntilEnded(
      () => rides.push(...search()),
      () => rides.length > 0,
    );
  if (prefer === 'fewer_changes') {
    const most = Math.max(0, ...rides.map((one) => one.rides.length));
    const { changeSeconds } = WORTH.fewer_changes;
    const limited = { ...more, walkSeconds: null, ...within((one) => one.rides.length * changeSeconds) };
    for (let maxRides = most - 1; maxRides > 0; maxRides--) add(() => plan({ ...limited, maxRides }));
  } else {
    const bounds = WALK_FACTORS.map((factor) => within((one) => factor * secondsOnFoot(one)));
    for (const [index, factor] of WALK_FACTORS.entries()) {
      const slow = withSlowWalks({ ...more, ...bounds[index] }, factor);
      add(() => plan(slow).flatMap((one) => withOwnWalks(one, factor)));
    }
  }
  const preferred = listPreferred(rides, WORTH[prefer], secondsOnFoot);
  preferred.sort(isArrival ? (a, b) => b.arrivesAt - a.arrivesAt : (a, b) => a.departsAt - b.departsAt);
  return [...walks, ...preferred.slice(0, limit)];
}

/**
 * How late a journey may arrive (with `isArrival`: how early it may leave) and still be preferred to one of these, to within some
 * seconds.
 */
function boundAfter(
  plans: readonly Plan[],
  { isArrival, bound }: { isArrival: boolean; bound?: number },
  secondsOf: (plan: Plan) => number,
): { bound?: number } {
  if (plans.length === 0) return bound === undefined ? {} : { bound };
  const usual = bound ?? (isArrival ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY);
  return isArrival
    ? { bound: Math.max(usual, Math.min(...plans.map((one) => one.departsAt - secondsOf(one)))) }
    : { bound: Math.min(usual, Math.max(...plans.map((one) => one.arrivesAt + secondsOf(one)))) };
}

function withSlowWalks(request: WalkingRequest, factor: number): PlanRequest {
  const slow = ({ stop, seconds }: Walk) => ({ stop, seconds: factor * seconds });
  const { access, egress, footpaths, walkSeconds } = request;
  return {
    ...request,
    access: access.map(slow),
    egress: egress.map(slow),
    footpaths: { ...footpaths, seconds: footpaths.seconds.map((seconds) => factor * seconds) },
    walkSeconds: walkSeconds && factor * walkSeconds,
  };
}

/** Returns the plan with walks at the rider's own pace. Empty for a journey on foot, which the first search has found. */
function withOwnWalks(plan: Plan, factor: number): Plan[] {
  const [access, egress] = [plan.access, plan.egress].map(({ stop, seconds }) => ({ stop, seconds: seconds / factor }));
  if (plan.rides.length === 0 || !access || !egress) return [];
  const departsAt = plan.departsAt + access.seconds;
  return [{ ...plan, departsAt, arrivesAt: plan.arrivesAt - egress.seconds, access, egress }];
}

/**
 * Drops each journey to which another one is preferred. A cheaper one is preferred if it loses no time, or less time than it
 * saves in cost. A dearer one is preferred if it loses no time and gains more than its additional cost. The sum of cost and
 * duration always falls, so there is no cycle.
 */
export function listPreferred<One extends Found>(
  plans: readonly One[],
  worth: (typeof WORTH)[Preference],
  secondsOnFoot: (plan: One) => number,
): One[] {
  const rated = plans.map((plan) => ({
    plan,
    cost: plan.rides.length * worth.changeSeconds + worth.onFoot * secondsOnFoot(plan),
  }));
  type Rated = (typeof rated)[0];
  const isPreferred = (a: Rated, b: Rated) => {
    const saved = b.cost - a.cost;
    const [later, earlier] = [a.plan.departsAt - b.plan.departsAt, b.plan.arrivesAt - a.plan.arrivesAt];
    if (saved < 0) return later >= 0 && earlier >= 0 && later + earlier > -saved;
    const lost = Math.max(0, -later) + Math.max(0, -earlier);
    return lost === 0 || lost < saved;
  };
  return rated
    .filter((one, index) =>
      rated.every((other, at) => at === index || !isPreferred(other, one) || (isPreferred(one, other) && index < at)),
    )
    .map(({ plan }) => plan);
}
