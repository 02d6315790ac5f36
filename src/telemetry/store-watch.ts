import { count, type Instruments, observe } from './instruments.ts';

/** The store with its admissions timed and counted. */
export function watchAdmissions<Store extends { admit(request: never): Promise<unknown> }>(
  store: Store,
  { storeCalls, storeSeconds }: Instruments,
): Store {
  return {
    ...store,
    async admit(request: never) {
      const startedAt = performance.now();
      try {
        const answer = await store.admit(request);
        count(storeCalls, 'answered');
        return answer;
      } catch (error) {
        count(storeCalls, 'failed');
        throw error;
      } finally {
        observe(storeSeconds, (performance.now() - startedAt) / 1000);
      }
    },
  };
}
