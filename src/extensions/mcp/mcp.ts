import { createMcpHandler } from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, errorBody } from '../../errors/api-error.ts';
import { invalidParameters } from '../../errors/messages.ts';
import { toApiError } from '../../errors/to-api-error.ts';
import type { CreateExtension, Service } from '../../http/extension.ts';
import { parseJsonBody } from '../../http/json-body.ts';
import { requesterOf } from '../../http/operation-routes.ts';
import { recordSources } from '../../http/request-log.ts';
import type { RunOperation } from '../../http/run-operation.ts';
import { logError } from '../../http/send-error.ts';
import { noticeTo, type Operation, parseQuery, problemsOf } from '../../operations/operation.ts';
import { priceOf } from '../../operations/price.ts';
import { stopSearchQuery } from '../../operations/stop-search/query.ts';
import { OTHER_ROUTES } from '../../routes.ts';
import { quote } from '../../transit/parameter.ts';
import { chooseStop, listNames } from './stop-names.ts';
import { shorten, toToolBody } from './tool-body.ts';
import { createToolServer, describeTools, type RunTool, type ToolResult, type Tools, withToolList } from './tools.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The operation that an assistant's message ran, and the HTTP status of its response. */
    toolCall?: { path: string; status: number };
  }
}

/** Maximum nesting of a message. Real messages have about six levels. */
const MAX_NESTING = 32;
/** `Invalid params` of JSON-RPC. */
const INVALID_PARAMS = -32602;
/** Maximum characters of one response, not counting the note about omissions. */
const MAX_TEXT_LENGTH = 49_000;

/**
 * `POST /mcp`: the operations as tools of the Model Context Protocol over streamable HTTP, without sessions. Registered behind
 * the key check, which charges each request as one; a request that calls no tool is refunded.
 */
async function mcp(app: FastifyInstance, service: Service): Promise<void> {
  const { operations, docsUrl } = service;
  let tools: Tools | null = null;

  // A request is free until it calls a tool, even if its body cannot be read.
  app.addHook('onRequest', (request, _reply, done) => {
    request.outcome.isFree = true;
    done();
  });

  app.post(OTHER_ROUTES.assistants, { preHandler: parseJsonBody }, async (request, reply) => {
    // Only one revision of the protocol had batches. One message per request keeps charging simple.
    if (Array.isArray(request.body)) throw new ApiError('INVALID_PARAMETER', 'Send one JSON-RPC message per request.');
    // Parsing messages and arguments is recursive.
    if (isDeeperThan(request.body, MAX_NESTING)) return refuseNesting(request, reply);
    const run: RunTool = (operation, toolArguments) =>
      runTool(request, operation, toolArguments, service).catch((error) =>
        toToolError(request, operation, error, docsUrl),
      );
    // Built on the first request, so that startup does not wait for it.
    tools ??= describeTools(operations);
    const described = tools;
    const handler = createMcpHandler(() => createToolServer(described, request.body, run), {
      // The tools never change, so there is nothing to subscribe to.
      maxSubscriptions: 0,
      onerror: (error) => request.log.debug({ err: error }, 'an MCP request was refused'),
    });
    const response = await handler.fetch(toWebRequest(request), { parsedBody: request.body });
    const text = response.body && withToolList(described, request.body, await response.text());
    return sendWebResponse(reply, response, text);
  });
}

async function runTool(
  request: FastifyRequest,
  operation: Operation,
  toolArguments: Record<string, unknown>,
  { responses, runOperation, now }: Service,
): Promise<ToolResult> {
  request.outcome.isFree = false;
  const namedStops = await resolveStops(toolArguments, request, runOperation);
  const query = parseQuery(operation, { ...toolArguments, ...namedStops.stopIds }, operation.id);
  const price = priceOf(operation, query, now());
  await request.chargeMore(price - (namedStops.notes.length > 0 ? 0 : 1));
  const response = await responses.get(operation, query, requesterOf(request)).catch((error) => {
    if (error instanceof ApiError && error.isUnbegun) request.outcome.unbegunParts = price - 1;
    throw error;
  });
  request.outcome.failedParts = response.failedParts;
  recordSources(request, response);
  request.toolCall = { path: operation.path, status: 200 };
  const { text, leftOut } = shorten(toToolBody(response.body.content()), MAX_TEXT_LENGTH);
  const notes = [
    ...namedStops.notes,
    noticeTo(toolArguments, response.notices) ?? [],
    leftOut.length > 0 ? `Left out to keep this response short: ${leftOut.join('; ')}.` : [],
  ].flat();
  return { body: { ...JSON.parse(text), ...(notes.length > 0 && { notes }) }, isError: false };
}

/** Resolves stops given by name. Each search is charged as one request, the first instead of the call itself. */
async function resolveStops(received: Record<string, unknown>, request: FastifyRequest, runOperation: RunOperation) {
  const names = listNames(received);
  await request.chargeMore(Math.max(0, names.length - 1));
  const stops = await Promise.all(
    names.map(async ({ parameter, name }) => {
      const { body } = await runOperation('/v1/stops/search', toSearch(parameter, name), request);
      return { parameter, name, stop: chooseStop(parameter, name, body.content().results) };
    }),
  );
  return {
    stopIds: Object.fromEntries(stops.map(({ parameter, stop }) => [parameter, stop.stop_id])),
    notes: stops.map(({ parameter, name, stop }) => `${parameter}: ${quote(name)} is ${stop.name} (${stop.stop_id}).`),
  };
}

/** Reports problems under the caller's parameter, because the caller sent no `q`. */
function toSearch(parameter: string, q: string) {
  const search = { q, limit: '50' };
  const read = stopSearchQuery.safeParse(search);
  if (read.success) return search;
  throw invalidParameters(problemsOf(read.error, { q }).map((problem) => ({ ...problem, parameter })));
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}

function refuseNesting({ body }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { id } = body as { id?: unknown };
  const message = `Lists and objects in a message may be nested at most ${MAX_NESTING} levels deep; tool arguments are strings, numbers and flat lists.`;
  return reply.header('cache-control', 'no-store').send({
    jsonrpc: '2.0',
    id: typeof id === 'string' || typeof id === 'number' ? id : null,
    error: { code: INVALID_PARAMS, message },
  });
}

/** Returns the same error object as over HTTP, charged the same way. */
function toToolError(request: FastifyRequest, { path }: Operation, error: unknown, docsUrl: string): ToolResult {
  const apiError = toApiError(error);
  logError(apiError, request);
  request.toolCall = { path, status: apiError.statusCode };
  request.outcome.failedParts = apiError.failedParts ?? (apiError.statusCode >= 500 ? Number.POSITIVE_INFINITY : 0);
  return { body: { ...errorBody(apiError, docsUrl) }, isError: true };
}

/** Converts the request without its body, which is passed on separately as parsed. */
function toWebRequest({ headers, url }: FastifyRequest): Request {
  const fields = Object.entries(headers).filter((field): field is [string, string] => typeof field[1] === 'string');
  return new Request(new URL(url, 'http://localhost'), { method: 'POST', headers: fields });
}

function sendWebResponse(
  reply: FastifyReply,
  { status, headers }: Response,
  text: string | Buffer | null,
): FastifyReply {
  const type = headers.get('content-type');
  if (type) reply.type(type);
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .send(text ?? undefined);
}

/** Tools for assistants at `/mcp`. */
export const assistants: CreateExtension = (service) => ({
  addRoutes: async (api) => {
    await api.register(mcp, service);
  },
});
