import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { OPERATION_PATHS } from '../access/grant.ts';
import type { SignedKeys } from '../access/signed-keys.ts';
import { invalidParameters, operationNotAllowed } from '../errors/messages.ts';
import { problemsOf } from '../operations/operation.ts';
import { OTHER_ROUTES } from '../routes.ts';
import { STOP_ID } from '../transit/region.ts';
import { parseJsonBody } from './json-body.ts';

const DEFAULT_MINUTES = 15;
const MAX_LISTED = 20;

const wholeNumber = (min: number, max: number) =>
  z
    .int(`must be a whole number from ${min} to ${max}`)
    .min(min, `must be a whole number from ${min} to ${max}`)
    .max(max, `must be a whole number from ${min} to ${max}`);

const OPERATIONS_ALLOWED = `must be a list of operation paths, such as ["/v1/departures"]. Allowed: ${OPERATION_PATHS.join(', ')}`;
const STOPS_ALLOWED = `must be a list of up to ${MAX_LISTED} stop IDs, such as ["200070"]`;
/** The body of `POST /v1/tokens`. */
export const tokenRequestSchema = z
  .strictObject({
    minutes: wholeNumber(1, 60).default(DEFAULT_MINUTES).describe('How long the token is valid.'),
    operations: z
      .array(z.enum(OPERATION_PATHS, OPERATIONS_ALLOWED), OPERATIONS_ALLOWED)
      .min(1, OPERATIONS_ALLOWED)
      .optional()
      .describe('Paths of the allowed operations, including their streams. Default: all.'),
    stops: z
      .array(z.string(STOPS_ALLOWED).regex(STOP_ID, STOPS_ALLOWED).toUpperCase(), STOPS_ALLOWED)
      .min(1, STOPS_ALLOWED)
      .max(MAX_LISTED, STOPS_ALLOWED)
      .optional()
      .describe('Limits the token to these stops; requests without a stop are refused. Default: no limit.'),
    requests: wholeNumber(1, 100_000)
      .optional()
      .describe('How many requests the token allows; a stream counts as one a minute. Default: no limit of its own.'),
    streams: wholeNumber(0, 100).default(1).describe('How many streams may be open at once per instance.'),
  })
  .meta({ id: 'TokenRequest', description: 'What the token allows.' });

export const tokenSchema = z
  .object({
    token: z
      .string()
      .describe('Use it instead of your key: as a Bearer token, or on streams as `access_token` in the query.'),
    expires_at: z.string().describe('UTC, ISO 8601.'),
  })
  .meta({ id: 'Token', description: 'A short-lived token to use instead of a key.' });

export const TOKEN_REQUEST_EXAMPLE = { minutes: 15, operations: ['/v1/departures'] };

export const TOKEN_EXAMPLE = {
  token: 'tis_tok_eyJvcGVyYXRpb25zIjpbIi92MS9kZXBhcnR1cmVzIl19.aB3dE5fG.9f86d081….Zk3vJk1yG1mJ3bq0',
  expires_at: '2026-11-21T03:15:00Z',
};

/**
 * `POST /v1/tokens`: a backend requests a token with its secret key and hands it to its app. Nothing is stored: the token is
 * signed, and ends when it expires or the key ends.
 */
export async function tokenRoute(
  app: FastifyInstance,
  { signedKeys, now }: { signedKeys: SignedKeys; now: () => number },
): Promise<void> {
  app.post(OTHER_ROUTES.tokens, { preHandler: parseJsonBody }, async (request, reply) => {
    const key = request.keyInUse;
    if (!key || request.granted) throw operationNotAllowed(OTHER_ROUTES.tokens, undefined);
    const body = request.body ?? {};
    const read = tokenRequestSchema.safeParse(body);
    if (!read.success) throw invalidParameters(problemsOfBody(read.error, body, Object.keys(tokenRequestSchema.shape)));
    const { minutes, ...grant } = read.data;
    const expiresAt = Math.floor(now() / 1000) + minutes * 60;
    const token = signedKeys.createToken({ ...grant, expiresAt, id: randomBytes(6).toString('base64url') }, key);
    const expires_at = `${new Date(expiresAt * 1000).toISOString().slice(0, 19)}Z`;
    return reply.header('cache-control', 'no-store').send({ token, expires_at });
  });
}

/** Unknown names are errors: a mistyped limit would be no limit. */
function problemsOfBody(error: z.ZodError, body: unknown, knownNames: readonly string[]) {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return [{ parameter: 'body', hint: 'The body must be a JSON object, such as {}.' }];
  }
  const unknown = Object.keys(body).filter((name) => !knownNames.includes(name));
  return [
    ...problemsOf(error, body as Record<string, unknown>).filter(({ parameter }) => knownNames.includes(parameter)),
    ...unknown
      .slice(0, 5)
      .map((name) => ({ parameter: name.slice(0, 50), allowed: `is not one of ${knownNames.join(', ')}` })),
  ];
}
