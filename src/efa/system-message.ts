import type { SystemMessage } from './payload.ts';

/*
 * Only the system messages of an answer without records are read: good answers carry "errors" too (-8011, -10015).
 * The same code means different things on different endpoints.
 */

const UNKNOWN_STOP_CODES: readonly (number | undefined)[] = [-8020, -2000, -4002, -4003, -4004, -4005];
const DATE_INVALID_CODE = -4001;
const SAME_PLACE_CODE = -4007;

export function findUnknownStopMessage(messages: readonly SystemMessage[]): SystemMessage | undefined {
  return messages.find((message) => UNKNOWN_STOP_CODES.includes(message.code));
}

export function saysDateInvalid(messages: readonly SystemMessage[]): boolean {
  return messages.some((message) => message.code === DATE_INVALID_CODE);
}

export function saysSamePlace(messages: readonly SystemMessage[]): boolean {
  return messages.some((message) => message.code === SAME_PLACE_CODE);
}
