import type { Mode } from '../../transit/mode.ts';
import type { Usual } from '../../transit/punctuality.ts';
import type { FindContext } from '../operation.ts';

/** A departure, or a ride where it is boarded. `mode` is `walk` for a leg on foot. */
interface Leaving {
  mode: Mode | 'walk';
  route: string | null;
  lineId?: string | null | undefined;
  runId: string | null;
  stopId: string;
  plannedAt: number;
}

/** How late each of them usually is, in their order; null where nothing is recorded. */
export async function loadUsual(
  leaving: readonly Leaving[],
  { punctuality, lines }: FindContext,
): Promise<(Usual | null)[]> {
  const lookups = leaving.map((one) => {
    const { mode, route, stopId, plannedAt } = one;
    const lineId = lines.findIdOf(one);
    if (!punctuality || mode === 'walk' || route === null || !lineId) return null;
    return { lineId: lineId.toUpperCase(), mode, route, stopId, plannedAt };
  });
  const known = lookups.filter((lookup) => lookup !== null);
  const found = (await punctuality?.loadUsual(known)) ?? [];
  let next = 0;
  return lookups.map((lookup) => (lookup ? (found[next++] ?? null) : null));
}
