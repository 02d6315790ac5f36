import type { Ask } from '#src/efa/ask.ts';
import { type PayloadOf, type Question, readAnswer } from '#src/efa/question.ts';
import { coordAnswer, departureMonitorAnswer, NOW, stopFinderAnswer, tripAnswer } from '#test/contract/payloads.ts';
import { buildTestApp, type TestApp } from './app.ts';

const ANSWERS: Record<Question['kind'], unknown> = {
  departureMonitor: departureMonitorAnswer,
  coord: coordAnswer,
  stopFinder: stopFinderAnswer,
  trip: tripAnswer,
};

/** An authority without a network that always answers well. */
export const healthyUpstream: Ask = async <Asked extends Question>(question: Asked) => {
  const payload: PayloadOf<Asked> = readAnswer(question, ANSWERS[question.kind]);
  return { payload, retrievedAt: new Date(NOW) };
};

/** The service in front of the healthy authority, or of the given one. */
export function buildHealthyApp(upstream: Ask = healthyUpstream): Promise<TestApp> {
  return buildTestApp({ upstream, now: NOW });
}
