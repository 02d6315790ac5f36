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
    app.addHook('onRoute', (route) => {
      const record = createRecorder(route.url, traffic, instruments);
      route.onResponse = [
        route.onResponse ?? [],
        // With a callback: a promise for each answer would cost more than the counting.
        (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
          record(request, reply);
          done();
        },
      ].flat();
    });
  },
  { name: 'request-recorder' },
);

/** Counts the answers of one route. */
function createRecorder(operation: string, traffic: Traffic | null, instruments: Instruments | null) {
  return (request: FastifyRequest, reply: FastifyReply) => {
    const { statusCode, elapsedTime } = reply;
    if (!isStream(reply)) {
      traffic?.answered(operation, statusCode, elapsedTime);
      if (instruments) observe(instruments.requestSeconds, elapsedTime / 1000, operation);
    }
    if (!instruments) return;
    const { requests, answers, quotaDecisions } = instruments;
    const { admission } = request;
    const plan = admission?.caller.plan ?? 'none';
    count(requests, operation, statusCode, plan);
    const decision = admission?.kind ?? withoutAdmission(statusCode);
    if (decision) count(quotaDecisions, decision, plan);
    const source = sourceOf(reply.getHeader('cache-status'));
    if (source) count(answers, operation, source);
  };
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
