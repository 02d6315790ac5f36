import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import type { Admission } from '../access/account.ts';
import type { Restrictions } from '../access/restrictions.ts';
import type { SignedKeys } from '../access/signed-keys.ts';
import type { Secrets } from '../core/signer.ts';
import type { ApiError } from '../errors/api-error.ts';
import type { Operation } from '../operations/operation.ts';
import type { Responses } from '../operations/serve.ts';

/** What the service offers its extensions. */
export interface Service {
  operations: readonly Operation[];
  responses: Responses;
  signedKeys: SignedKeys;
  /** Null where no address or domain can be suspended. */
  restrictions: Restrictions | null;
  /** Signs links, tokens, identifiers and cursors. */
  linkSecrets: Secrets;
  /** Refuses a request without a key that is beyond the limit of its network. */
  limitPages: (request: FastifyRequest) => Promise<void>;
  /** Whether positions of vehicles are known. */
  hasVehicles: boolean;
  /** Whether the sandbox responds. */
  isSandbox: boolean;
  publicUrl: string;
  docsUrl: string;
  now: () => Date;
  /** Waits, by the same clock as `now`. */
  sleep: (ms: number) => Promise<unknown>;
  log: FastifyBaseLogger;
}

/** Something that stands beside the contract. The service runs without any of them. Each part is optional. */
interface Extension {
  /** Adds hooks to the scope of the API, before the key is checked. */
  watch?: (api: FastifyInstance) => Promise<void>;
  /** Adds routes behind the check of key and quota. */
  addRoutes?: (api: FastifyInstance) => Promise<void>;
  /** Adds routes that need no key. The limit of client networks applies. */
  addPages?: (app: FastifyInstance) => Promise<void>;
  /** Draws the page that a browser gets for an error. */
  drawError?: (error: ApiError) => string;
  /** Is told of each counted request. */
  onCounted?: (admission: Admission) => void;
  close?: () => unknown;
}

export type CreateExtension = (service: Service) => Extension;
