import type { FastifyInstance, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { hideKeys } from '../access/keys.ts';
import type { ApiError } from '../errors/api-error.ts';
import { methodNotAllowed, unknownPath } from '../errors/messages.ts';
import { findMeant } from '../transit/parameter.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The documented path of the operation, "/v1/stops/{stop_id}"; empty if undocumented. */
    readonly operationPath: string;
  }
}

/** `OPTIONS *` concerns the whole server. */
const WHOLE_SERVER = '*';
/** The maximum parts of a path that are compared; no route has as many. */
const MAX_PARTS = 16;

/**
 * Unknown paths get 404. Known paths with another method get 405 with `Allow`. Both are thrown before the body is read, so a
 * POST gets an error about its method, not about its content type. OPTIONS gets `Allow` and no body.
 */
export const paths = fp(
  async (app: FastifyInstance) => {
    const methodsOf = new Map<string, string[]>([[WHOLE_SERVER, ['GET', 'HEAD']]]);

    app.decorateRequest('operationPath', {
      getter() {
        return fromRoute(this.routeOptions.url ?? '');
      },
    });
    app.addHook('onRoute', ({ url, method }) => {
      methodsOf.set(url, [...(methodsOf.get(url) ?? []), ...[method].flat()]);
    });
    app.addHook('onRequest', (request, reply, done) => {
      if (!request.is404) return done();
      const allow = findAllowed(request, methodsOf);
      if (request.method === 'OPTIONS' && allow) reply.code(204).header('allow', allow).send();
      else done(pathError(request, allow, methodsOf));
    });
    app.setNotFoundHandler((request) => {
      throw pathError(request, findAllowed(request, methodsOf), methodsOf);
    });
  },
  { name: 'paths' },
);

function pathError(request: FastifyRequest, allow: string | null, methodsOf: ReadonlyMap<string, string[]>): ApiError {
  const path = hideKeys(requestedPath(request)).slice(0, MAX_PATH);
  // A wildcard route, such as that of the assets, accepts the method but may have nothing at this path.
  const isTaken = allow?.split(', ').includes(request.method);
  const operations = [...methodsOf.keys()].filter((route) => route.startsWith(API)).map(fromRoute);
  return allow && !isTaken
    ? methodNotAllowed(path, request.method, allow)
    : unknownPath(
        path,
        findNear(path, operations),
        allow ? [] : operations.filter((operation) => !operation.endsWith('/stream')),
      );
}

/** Maximum characters of a path repeated to the caller. */
const MAX_PATH = 120;
const API = '/v1/';

/**
 * The API path most similar to the requested one, allowing typos, with the identifiers of the request; null if there is none.
 */
function findNear(path: string, operations: readonly string[]): string | null {
  const requestedParts = path.split('/', MAX_PARTS).filter((part) => part !== '');
  const values = requestedParts.slice(requestedParts.indexOf(API.slice(1, -1)) + 1);
  const scored = operations
    .map((route) => {
      const parts = route.slice(API.length).split('/');
      const common = parts.filter((part) =>
        requestedParts.some((requestedPart) => findMeant(requestedPart, [part]) !== null),
      ).length;
      const isFilled =
        parts.length === values.length && parts.some((part, index) => part !== fill(part, values[index]));
      const filled = isFilled ? API + parts.map((part, index) => fill(part, values[index])).join('/') : route;
      return { filled, common, isFilled, length: parts.length };
    })
    .filter(({ common }) => common > 0)
    .sort((a, b) => b.common - a.common || Number(b.isFilled) - Number(a.isFilled) || a.length - b.length);
  return scored[0]?.filled ?? null;
}

/** A part of an operation's path, with its placeholder replaced by the given identifier. */
function fill(part: string, value = part): string {
  return part.startsWith('{') ? value : part;
}

/** The methods of the path, as listed in `Allow`; null for an unknown path. */
function findAllowed(request: FastifyRequest, methodsOf: ReadonlyMap<string, string[]>): string | null {
  const path = toRouteUrl(requestedPath(request));
  const parts = path.split('/', MAX_PARTS);
  const methods = methodsOf.get(path) ?? [...methodsOf].find(([route]) => matches(route, parts))?.[1];
  return methods ? [...new Set([...methods, 'OPTIONS'])].sort().join(', ') : null;
}

/** The URL without its query. */
export function requestedPath({ url }: FastifyRequest): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

/** The path in the form of registered routes: decoded, without a trailing slash. */
function toRouteUrl(path: string): string {
  try {
    return decodeURI(path.length > 1 ? path.replace(/\/$/, '') : path);
  } catch {
    return path;
  }
}

/** A route may have `:name` in place of one part, or a final `*` in place of all remaining parts. */
function matches(route: string, parts: readonly string[]): boolean {
  const routeParts = route.split('/');
  const isOpen = routeParts.at(-1) === '*' && routeParts.length > 1;
  if (isOpen ? parts.length < routeParts.length : parts.length !== routeParts.length) return false;
  return routeParts.every(
    (part, index) => part === parts[index] || part === '*' || (part.startsWith(':') && parts[index]),
  );
}

/** Browsers get pages and redirects, programs get JSON. */
export function wantsPage(request: FastifyRequest): boolean {
  return (request.headers.accept ?? '').includes('text/html');
}

const IN_BRACES = /\{(\w{1,30})\}/g;

export function pathParameters(path: string): string[] {
  return [...path.matchAll(IN_BRACES)].map(([, name = '']) => name);
}

/** The path as registered: "/v1/stops/:stop_id". */
export function toRoute(path: string): string {
  return path.replace(IN_BRACES, ':$1');
}

/** The documented path of a route. */
export function fromRoute(route: string): string {
  return route.replace(/:(\w+)/g, '{$1}');
}

/** The URL for `path` with its placeholders filled from the query's parameters. */
export function urlOf(path: string, query: string): string {
  const parameters = new URLSearchParams(query);
  const inPath = pathParameters(path);
  const filled = path.replace(IN_BRACES, (_, name) => encodeURIComponent(parameters.get(name) ?? ''));
  const queryPairs = query.split('&').filter((pair) => pair !== '' && !inPath.includes(pair.split('=', 1)[0] ?? ''));
  return queryPairs.length > 0 ? `${filled}?${queryPairs.join('&')}` : filled;
}

/** All parameters of a request, including those in the path, unparsed. */
export function receivedBy({ query, params }: { query: unknown; params?: unknown }): Record<string, unknown> {
  return { ...(query as object), ...(params as object) };
}
