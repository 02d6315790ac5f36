import type { AccountStore } from '../access/store.ts';
import { count, type Instruments, observe } from './instruments.ts';

/** The store with its admissions timed and counted. */
export function watchAdmissions<Store extends Pick<AccountStore, 'admit'>>(
  store: Store,
  { storeCalls, storeSeconds }: Instruments,
): Store {
  return {
    ...store,
    async admit(question: Parameters<Store['admit']>[0]) {
      const startedAt = performance.now();
      try {
        const answer = await store.admit(question);
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
