import { encodePolyline } from '../transit/polyline.ts';
import type { Position } from '../transit/stop.ts';
import type { JourneyBody, LegBody } from './response.ts';

/** How a caller wants the paths of legs: as pairs, encoded in `polyline`, or not at all. */
export const PATH_FORMS = ['full', 'polyline', 'none'] as const;
export type PathForm = (typeof PATH_FORMS)[number];

/** The journey with the paths of its legs in that form. */
export function withPaths(journey: JourneyBody, form: PathForm): JourneyBody {
  if (form === 'full') return journey;
  return { ...journey, legs: journey.legs.map((leg) => slim(leg, form)) };
}

function slim(leg: LegBody, form: 'polyline' | 'none'): LegBody {
  if (form === 'none') return { ...leg, path: [] };
  return { ...leg, path: [], polyline: encodePolyline(leg.path as Position[]) };
}
