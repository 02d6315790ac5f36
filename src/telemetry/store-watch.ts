import { count, type Instruments, observe } from './instruments.ts';

/** The store with its admissions timed and counted; `heard` is told of each response. */
export function watchAdmissions<Store extends { admit(request: never): Promise<unknown> }>(
  store: Store,
  { storeCalls, storeSeconds }: Instruments,
  heard: () => void = () => {},
): Store {
  return {
    ...store,
    admit(request: never) {
      const startedAt = performance.now();
      const note = (outcome: 'answered' | 'failed') => {
        count(storeCalls, outcome);
        observe(storeSeconds, (performance.now() - startedAt) / 1000);
      };
      const response = store.admit(request);
      response.then(
        () => {
          note('answered');
          heard();
        },
        () => note('failed'),
      );
      return response;
    },
  };
}
