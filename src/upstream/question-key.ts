import type { EfaClient } from '../efa/client.ts';
import type { CoordQuestion, DepartureMonitorQuestion, StopFinderQuestion, TripQuestion } from '../efa/request.ts';
import { sortModes } from '../transit/mode.ts';
import type { WallClock } from '../transit/time.ts';

/** Any question of the four, told apart by the client's method that asks it. */
export type Question =
  | ({ kind: 'departureMonitor' } & DepartureMonitorQuestion)
  | ({ kind: 'coordSearch' } & CoordQuestion)
  | ({ kind: 'stopFinder' } & StopFinderQuestion)
  | ({ kind: 'tripPlan' } & TripQuestion);

export type QuestionKind = keyof EfaClient;

/** Four decimals are a grid of about ten metres. */
const DECIMALS = 4;

/** The question as it is asked for everybody who would be content with the same answer. */
export function normaliseQuestion<Asked extends Question>(question: Asked): Asked {
  switch (question.kind) {
    case 'departureMonitor':
      return { ...question, stopId: question.stopId.toUpperCase(), modes: sortModes(question.modes) };
    case 'coordSearch':
      return { ...question, lat: onGrid(question.lat), lng: onGrid(question.lng) };
    case 'stopFinder':
      return { ...question, text: question.text.trim().replace(/\s+/g, ' ').toLowerCase() };
    case 'tripPlan':
      return { ...question, from: question.from.toUpperCase(), to: question.to.toUpperCase() };
  }
}

/** Equal for questions with the same answer. Takes a normalised question. */
export function questionKey(question: Question): string {
  switch (question.kind) {
    case 'departureMonitor':
      return `departures:${question.stopId}:${question.modes.join()}:${moment(question.at)}${isLaterPage(question) ? ':now' : ''}`;
    case 'coordSearch':
      return `nearby:${question.lat},${question.lng}:${question.radiusMetres}`;
    case 'stopFinder':
      return `search:${question.text}`;
    case 'tripPlan':
      return `trips:${question.from}:${question.to}:${question.isArrival ? 'arrive' : 'depart'}:${moment(question.at)}`;
  }
}

/** For now, but of a later time: fresh for a shorter while than a board of that time that somebody asked for. */
function isLaterPage({ at, isForNow }: DepartureMonitorQuestion): boolean {
  return at !== null && isForNow === true;
}

function moment(at: WallClock | null): string {
  return at ? `${at.date}T${at.time}` : 'now';
}

/** Adding zero turns -0 into 0. */
function onGrid(degrees: number): number {
  return Number(degrees.toFixed(DECIMALS)) + 0;
}
