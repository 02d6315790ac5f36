import type { Ask } from '../efa/ask.ts';
import { toRequest } from '../efa/request.ts';

/**
 * `ask` in which the requests of a name have an `ask` of their own, opened with the first of them: what goes wrong
 * with them touches no other request. Requests without a name are left as they are. There must be few names.
 */
export function isolate(
  ask: Ask,
  { nameOf, open }: { nameOf: (endpoint: string, query: URLSearchParams) => string | null; open: () => Ask },
): Ask {
  const isolated = new Map<string, Ask>();

  function askOf(name: string): Ask {
    const known = isolated.get(name) ?? open();
    isolated.set(name, known);
    return known;
  }

  return (request, options) => {
    const { endpoint, query } = toRequest(request);
    const name = nameOf(endpoint, new URLSearchParams(query));
    return (name === null ? ask : askOf(name))(request, options);
  };
}
