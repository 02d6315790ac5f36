import type { StopNode } from '../network/network-index.ts';
import { seedOf, trait } from '../trait.ts';
import type { Notice } from './line-notice.ts';

const LIFT_SHARE = 0.15;
const STATION_SHARE = 0.1;

/** Notices about lifts and entrances of a station, on trains and metros only. */
export function stopNotices({ stop }: StopNode, productClass: number): Notice[] {
  if (productClass !== 1 && productClass !== 2) return [];
  const seed = seedOf(stop.id);
  const notices: Notice[] = [];
  if (stop.wheelchairAccess && trait(seed, 1) < LIFT_SHARE) {
    const subtitle = `${stop.name} lift between the concourse and street level is not available`;
    const content = `At ${stop.name} the lift between the concourse and street level is temporarily out of service.\n\nIf you need help, ask staff or phone 131 500.`;
    const id = `ems-${70_000 + (seed >>> 17)}`;
    notices.push({ id, priority: 'low', type: 'infrastructure', subtitle, content, speech: content });
  }
  if (trait(seed, 2) < STATION_SHARE) {
    const subtitle = `Station Update - ${stop.locality}`;
    const content = `<p>The northern entrance of ${stop.name} is closed for upgrades. Use the main entrance &amp; allow extra time.</p>`;
    const speech = `The northern entrance of ${stop.name} is closed for upgrades. Use the main entrance and allow extra time.`;
    const id = `ems-${60_000 + (seed >>> 18)}`;
    notices.push({ id, priority: 'normal', type: 'stopInfo', subtitle, content, speech });
  }
  return notices;
}
