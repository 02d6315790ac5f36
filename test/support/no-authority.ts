import type { Ask } from '#src/efa/ask.ts';

/** For tests in which the authority must not be asked. */
export const noAuthority: Ask = async () => {
  throw new Error('the authority was asked');
};
