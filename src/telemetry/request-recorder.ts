import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { count, type Instruments, observe } from './instruments.ts';
import type { Traffic } from './traffic.ts';

/** Counts every answer of the routes that are registered beside it. */
export const requestRecorder = fp(
  async (
    app: FastifyInstance,
    { traffic, instruments }: { traffic: Traffic | null; instruments: Instruments | null },
  ) => {
    // With a callback: a promise for each answer would cost more than the counting.
    app.addHook('onResponse', (request, reply, done) => {
      const operation = request.routeOptions.url;
      if (operation) {
        if (!isStream(reply)) {
          traffic?.answered(operation, reply.statusCode, reply.elapsedTime);
          if (instruments) observe(instruments.requestSeconds, reply.elapsedTime / 1000, operation);
        }
        if (instruments) record(instruments, operation, request, reply);
      }
      done();
    });
  },
  { name: 'request-recorder' },
);

function record(instruments: Instruments, operation: string, request: FastifyRequest, reply: FastifyReply): void {
  const { requests, answers, quotaDecisions } = instruments;
  const { admission } = request;
  const plan = admission?.caller.plan ?? 'none';
  count(requests, operation, reply.statusCode, plan);
  const decision = admission?.kind ?? withoutAdmission(reply.statusCode);
  if (decision) count(quotaDecisions, decision, plan);
  const source = sourceOf(reply.getHeader('cache-status'));
  if (source) count(answers, operation, source);
}

/** Streams last for as long as their readers stay, which is no measure of speed. */
function isStream(reply: FastifyReply): boolean {
  return String(reply.getHeader('content-type') ?? '').startsWith('text/event-stream');
}

/** Why a request was neither admitted nor refused for its quota; null when its key was not looked at. */
function withoutAdmission(status: number): string | null {
  if (status === 401) return 'key-refused';
  return status === 503 ? 'unavailable' : null;
}

const CACHE_STATUS_START = 'transit; '.length;

/** Read off our own `Cache-Status`, which every good answer has. */
function sourceOf(cacheStatus: unknown): string | null {
  if (typeof cacheStatus !== 'string') return null;
  if (!cacheStatus.startsWith('hit', CACHE_STATUS_START)) {
    return cacheStatus.endsWith('collapsed') ? 'joined' : 'upstream';
  }
  if (cacheStatus.endsWith('upstream-busy')) return 'stale-busy';
  return cacheStatus.endsWith('upstream-failing') ? 'stale-failing' : 'cache';
}
