import type { Ask } from '#src/efa/ask.ts';

/** For tests that must make no upstream call. */
export const noUpstream: Ask = async () => {
  throw new Error('upstream was called');
};
