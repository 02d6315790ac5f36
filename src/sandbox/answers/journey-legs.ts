import type { Endpoint } from '../journeys/endpoint.ts';
import { changeSeconds } from '../journeys/footpath.ts';
import type { Journey, JourneyRequest } from '../journeys/journey.ts';
import type { PointNode } from '../network/network-index.ts';
import { rideLeg, type TimedRide, timedRide } from './ride-leg.ts';
import { walkLeg } from './walk-leg.ts';

/** The rides of a journey, with a walk leg before, between and after them where the journey has one. */
export function legsOf(journey: Journey, request: JourneyRequest, nowSeconds: number | undefined): object[] {
  const { departureSeconds, arrivalSeconds } = journey;
  const rides = journey.rides.map((ride) => timedRide(ride, nowSeconds));
  const firstRide = rides[0];
  const lastRide = rides.at(-1);
  if (firstRide === undefined || lastRide === undefined) {
    const walk = { from: request.origin, to: request.destination, departureSeconds, arrivalSeconds, delaySeconds: 0 };
    return [walkLeg(walk)];
  }

  const legs: object[] = [];
  if (firstRide.departureSeconds > departureSeconds) {
    const delaySeconds = firstRide.estimatedDepartureSeconds - firstRide.departureSeconds;
    const to = pointAt(firstRide, firstRide.fromCall);
    legs.push(
      walkLeg({ from: request.origin, to, departureSeconds, arrivalSeconds: firstRide.departureSeconds, delaySeconds }),
    );
  }
  for (const [i, ride] of rides.entries()) legs.push(...rideAndChange(ride, rides[i + 1]));
  if (lastRide.arrivalSeconds < arrivalSeconds) {
    const delaySeconds = lastRide.estimatedArrivalSeconds - lastRide.arrivalSeconds;
    const from = pointAt(lastRide, lastRide.toCall);
    legs.push(
      walkLeg({
        from,
        to: request.destination,
        departureSeconds: lastRide.arrivalSeconds,
        arrivalSeconds,
        delaySeconds,
      }),
    );
  }
  return legs;
}

/** A ride, and the walk to the next ride where that begins at another stop. */
function rideAndChange(ride: TimedRide, next: TimedRide | undefined): object[] {
  if (next === undefined) return [rideLeg(ride, undefined)];
  const from = pointAt(ride, ride.toCall);
  const to = pointAt(next, next.fromCall);
  if (from.point === to.point) return [rideLeg(ride, undefined)];
  const seconds = changeSeconds(from.point, to.point);
  if (from.point.home === to.point.home) return [rideLeg(ride, { to: to.point, seconds })];
  const departureSeconds = ride.arrivalSeconds;
  const delaySeconds = ride.estimatedArrivalSeconds - ride.arrivalSeconds;
  const walk = { from, to, departureSeconds, arrivalSeconds: departureSeconds + seconds, delaySeconds };
  return [rideLeg(ride, undefined), walkLeg(walk)];
}

function pointAt(ride: TimedRide, call: number): Extract<Endpoint, { kind: 'point' }> {
  return { kind: 'point', point: ride.run.pattern.points[call] as PointNode };
}
