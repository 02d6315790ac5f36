import { expect, it } from 'vitest';
import { departureResponse } from '#sandbox/responses/departure-response.ts';
import { boardAt, network, tripIdOf } from '../feeds/played-day.ts';
import type { BoardResponse, StopEvent } from '../requests.ts';

const WEDNESDAY_8AM = Date.parse('2026-11-17T21:00:00Z') / 1000;
const CIRCULAR_QUAY = '200020';

const isMoved = ({ location: { properties = {} }, realtimeStatus }: StopEvent) =>
  properties.platformName !== properties.plannedPlatformName && !realtimeStatus?.includes('EXTRA_STOPS');

function idsOnPlatform(point: string | undefined, nowSeconds: number) {
  const query = { name_dm: point ?? '', nameKey_dm: '$USEPOINT$', mode: 'direct', TfNSWDM: 'true' };
  const { stopEvents = [] } = departureResponse(network, new URLSearchParams(query), nowSeconds) as BoardResponse;
  return stopEvents.map(tripIdOf);
}

it('a moved sandbox vehicle is on the board of its new wharf, not of the planned one', () => {
  const moments = Array.from({ length: 20 }, (_, i) => WEDNESDAY_8AM + i * 1800);
  const now = moments.find((moment) => boardAt(CIRCULAR_QUAY, moment).some(isMoved)) ?? 0;
  const moved = boardAt(CIRCULAR_QUAY, now).find(isMoved);
  const planned = network.stopById
    .get(CIRCULAR_QUAY)
    ?.points.find(({ platformName }) => platformName === moved?.location.properties?.plannedPlatformName);
  expect(idsOnPlatform(moved?.location.id, now)).toContain(moved && tripIdOf(moved));
  expect(idsOnPlatform(planned?.id, now)).not.toContain(moved && tripIdOf(moved));
});
