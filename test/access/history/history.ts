import type { Plan } from '#src/access/plan.ts';

/** What a client was told about one request. `unknown`: it may have been sent, and no answer came. */
export interface Told {
  instance: string;
  /** When the answer came. */
  at: number;
  /** As how many requests it counts when it is served. */
  count: number;
  outcome: 'ok' | 'refused' | 'unknown';
}

/** The sudden end of an instance. */
export interface Death {
  instance: string;
  at: number;
  /** Since when it was without Redis; null when it had Redis. */
  awaySince: number | null;
}

export interface Bounds {
  ok: number;
  refused: number;
  unknown: number;
  /** Of the counts, those that died with their instance before it could tell Redis. */
  lost: number;
  least: number;
  most: number;
}

/** Requests of an unlimited plan are counted in the background, in batches that are at most so old. */
const BACKGROUND_MS = 1000;

/** What the counter may be after these answers: at least `ok`, at most `ok` and `unknown`. */
export function boundsOf(plan: Plan, history: readonly Told[], deaths: readonly Death[]): Bounds {
  const sum = (entries: readonly Told[]) => entries.reduce((total, { count }) => total + count, 0);
  const of = (outcome: Told['outcome']) => history.filter((told) => told.outcome === outcome);
  const isUnsettled = (told: Told) =>
    deaths.some(({ instance, at, awaySince }) => {
      const since = awaySince ?? (plan === 'pro' ? at - BACKGROUND_MS : at);
      return told.instance === instance && told.at >= since;
    });
  const [ok, refused, unknown] = [sum(of('ok')), sum(of('refused')), sum(of('unknown'))];
  const lost = sum(of('ok').filter(isUnsettled));
  // A request that was refused after Redis had counted it is given back; that, too, can die with the instance.
  const notGivenBack = sum(of('refused').filter(isUnsettled));
  return { ok, refused, unknown, lost, least: ok - lost, most: ok + unknown + notGivenBack };
}
