import type { FastifyInstance, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { hideKeys } from '../access/keys.ts';
import { methodNotAllowed, unknownPath } from '../error-messages.ts';
import type { ApiError } from '../errors.ts';

/**
 * Unknown paths are 404, known paths with another method 405 with `Allow`. Both are thrown before the body is read,
 * so that a POST is told about its method and not about its content type.
 */
export const paths = fp(
  async (app: FastifyInstance) => {
    const methodsOf = new Map<string, string[]>();

    app.addHook('onRoute', ({ url, method }) => {
      methodsOf.set(url, [...(methodsOf.get(url) ?? []), ...[method].flat()]);
    });
    app.addHook('onRequest', async (request) => {
      if (request.is404) throw pathError(request, methodsOf);
    });
    app.setNotFoundHandler((request) => {
      throw pathError(request, methodsOf);
    });
  },
  { name: 'paths' },
);

function pathError(request: FastifyRequest, methodsOf: ReadonlyMap<string, string[]>): ApiError {
  const asked = request.url.split('?', 1)[0] ?? '/';
  const path = hideKeys(asked).slice(0, 200);
  const allowed = methodsOf.get(toRouteUrl(asked));
  if (!allowed) return unknownPath(path);
  const allow = [...new Set(allowed)].sort().join(', ');
  return methodNotAllowed(path, request.method, allow);
}

/** As the route was registered: decoded, without a trailing slash. */
function toRouteUrl(path: string): string {
  try {
    return decodeURI(path.length > 1 ? path.replace(/\/$/, '') : path);
  } catch {
    return path;
  }
}
