import type { QueryUpstream } from '#src/efa/query-upstream.ts';

/** For tests that must make no upstream call. */
export const noUpstream: QueryUpstream = async () => {
  throw new Error('upstream was called');
};
