import { createIdSigner } from '#src/core/signer.ts';

/** Signs links and identifiers in all tests, so that fixtures and the examples of the documentation can have identifiers. */
export const LINK_SECRET = 'a secret of the tests, long enough';

export const ids = createIdSigner([LINK_SECRET]);
