import type { Register, StoreKind } from './store.ts';

const OWNERS: Readonly<Record<StoreKind, string>> = {
  real: 'accounts of people who get answers of the authority',
  sandbox: 'accounts of the sandbox',
};

/** The store belongs to a service of the other kind; the message is for the operator. */
export class StoreKindError extends Error {
  override readonly name = 'StoreKindError';
}

/** Marks a new store as one of this kind. Throws `StoreKindError` when it is of the other kind. */
export async function claimStore(register: Pick<Register, 'readKind' | 'markKind'>, kind: StoreKind): Promise<void> {
  expectKind(await register.readKind(), kind);
  await register.markKind(kind);
  // Another process may have been first.
  expectKind(await register.readKind(), kind);
}

function expectKind(found: StoreKind | null, kind: StoreKind): void {
  if (found === null || found === kind) return;
  const name = kind === 'sandbox' ? 'the sandbox' : 'the authority';
  throw new StoreKindError(
    `The account store has ${OWNERS[found]}, and this service answers from ${name}. ` +
      'Set REDIS_URL or DATA_DIR to a store of its own. ' +
      `If you know that the store has ${OWNERS[kind]} only, say so: npm run keys -- store ${kind}`,
  );
}
