import type { Profiler } from 'node:inspector/promises';
import { startCpuProfile } from '../cpu-profile.ts';

const METRICS = /\/src\/telemetry\//;
const OURS = /\/src\//;
const NOT_WORK = ['(idle)', '(root)'];

/**
 * Starts a CPU profile; the returned function ends it and returns the share of processor time spent on metrics: in functions of
 * `src/extensions/telemetry` and in what they call outside `src`.
 */
export async function startProfile(): Promise<() => Promise<number>> {
  const stop = await startCpuProfile(200);
  return async () => shareOfMetrics(await stop());
}

function shareOfMetrics({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): number {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  let all = 0;
  let metrics = 0;
  for (const [index, sample] of samples.entries()) {
    const time = timeDeltas[index] ?? 0;
    if (NOT_WORK.includes(byId.get(sample)?.callFrame.functionName ?? '')) continue;
    all += time;
    if (METRICS.test(ownFileOf(sample))) metrics += time;
  }
  return metrics / all;

  /** The innermost of our files on the stack. */
  function ownFileOf(sample: number): string {
    for (let id: number | undefined = sample; id !== undefined; id = parents.get(id)) {
      const { url = '' } = byId.get(id)?.callFrame ?? {};
      if (OURS.test(url) && !url.includes('/node_modules/')) return url;
    }
    return '';
  }
}
