import type { z } from 'zod';
import type { ErrorCode } from '../errors.ts';

/**
 * What the documentation says of one operation of the API. It is also the schema of its route: `querystring` is the
 * validator, `response` and the rest are for OpenAPI and the pages.
 */
export interface Operation {
  operationId: string;
  tags: readonly string[];
  summary: string;
  description: string;
  querystring: z.ZodObject;
  response: { 200: z.ZodType };
  /** Errors of its own, beside those that every operation can meet. */
  errors: readonly ErrorCode[];
  /** A request that works, and what it is answered. */
  example: { query: string; body: unknown };
}

/** Errors that every operation can meet. */
export const COMMON_ERRORS = [
  'INVALID_PARAMETER',
  'UNAUTHORIZED',
  'DAILY_LIMIT_EXCEEDED',
  'INTERNAL_ERROR',
  'UPSTREAM_ERROR',
  'SERVICE_UNAVAILABLE',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_TIMEOUT',
] as const satisfies readonly ErrorCode[];
