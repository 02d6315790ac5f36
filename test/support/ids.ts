import { createIdSigner } from '#src/core/signer.ts';

/** Signs links and IDs in all tests, so that fixtures and documented examples can contain IDs. */
export const LINK_SECRET = 'a secret of the tests, long enough';

export const ids = createIdSigner([LINK_SECRET]);
