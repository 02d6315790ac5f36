/*
 * The parts that all responses share. Upstream uses one code with several meanings; codes and texts are as recorded.
 */

export const VERSION = '10.6.21.17';

export const stopInvalid = error(-2000, 'stop invalid');
export const noServingLines = error(-4050, 'no serving lines found');
export const dateInvalid = error(-4001, 'date invalid');
export const noConnection = error(-4000, 'no connection');
export const sameOriginAndDestination = error(-4007, 'origin equals destination');
export const listOfPlaces = error(-8011, '');
export const nameList = error(1, 'name list');
/** Part of good responses, without meaning. */
export const monomodal = {
  type: 'warning',
  module: 'BROKER',
  code: -10015,
  text: 'itp',
  subType: 'itp-monomodal',
};

export function noMatches(subject: 'origin' | 'destination' | 'stop') {
  return error(-8020, `${subject}: no matches`);
}

function error(code: number, text: string) {
  return { type: 'error', module: 'BROKER', code, text };
}

/** A response that consists of one system message. */
export function refusal(message: object) {
  return { version: VERSION, systemMessages: [message] };
}

/** UTC, in whole seconds. */
export function timestamp(epochSeconds: number): string {
  return `${new Date(epochSeconds * 1000).toISOString().slice(0, 19)}Z`;
}
