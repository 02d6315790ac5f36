import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import type { Admission } from '../access/account.ts';
import type { Restrictions } from '../access/restrictions.ts';
import type { SignedKeys } from '../access/signed-keys.ts';
import type { Secrets } from '../core/signer.ts';
import type { ApiError } from '../errors/api-error.ts';
import type { Operation } from '../operations/operation.ts';
import type { Responses } from '../operations/serve.ts';
import type { RunOperation } from './run-operation.ts';

/** All that extensions and pages use of the running service. */
export interface Service {
  operations: readonly Operation[];
  responses: Responses;
  runOperation: RunOperation;
  signedKeys: SignedKeys;
  /** Null if nothing can be suspended. */
  restrictions: Restrictions | null;
  /** Secrets to sign links, tokens, IDs and cursors. */
  linkSecrets: Secrets;
  /** Refuses a request without a key that exceeds the limit of its network. */
  limitPages: (request: FastifyRequest) => Promise<void>;
  /** Whether vehicle positions are available. */
  hasVehicles: boolean;
  isSandbox: boolean;
  publicUrl: string;
  docsUrl: string;
  now: () => number;
  /** Waits by the same clock as `now`. */
  sleep: (ms: number) => Promise<unknown>;
  log: FastifyBaseLogger;
}

/** An optional part of the service outside the contract. All its members are optional. */
export interface Extension {
  /** Adds hooks to all requests, before the routes are added. */
  decorate?: (app: FastifyInstance) => Promise<void>;
  /** What the process lacks to be ready, as a sentence without a full stop; null if nothing. */
  missing?: () => string | null | Promise<string | null>;
  /** Adds hooks to the scope of the API, before the key is checked. */
  watch?: (api: FastifyInstance) => Promise<void>;
  /** Adds routes behind the key and quota check. */
  addRoutes?: (api: FastifyInstance) => Promise<void>;
  /** Adds routes without a key check; they count towards the limit of the client's network. */
  addPages?: (app: FastifyInstance) => Promise<void>;
  /** Renders the page that browsers get for an error. */
  drawError?: (error: ApiError) => string;
  /** Called for each charged request. */
  onCounted?: (admission: Admission) => void;
  close?: () => unknown;
}

export type CreateExtension = (service: Service) => Extension;
