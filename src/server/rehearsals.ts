import type { Ask } from '../efa/ask.ts';
import { findRehearsalCode } from '../sandbox/rehearsal/rehearsals.ts';
import { alwaysClosed } from '../upstream/breaker.ts';
import { isolate } from '../upstream/isolation.ts';
import { type ProtectionOptions, protectUpstream } from '../upstream/protection.ts';

/**
 * `ask` for a service in front of the sandbox: a rehearsed failure touches no other request, and has the same outcome
 * however often it is asked for. `guard` is what the protection of `ask` is made of.
 */
export function withRehearsals(ask: Ask, guard: ProtectionOptions): Ask {
  return isolate(ask, {
    nameOf: findRehearsalCode,
    open: () => protectUpstream({ ...guard, breaker: alwaysClosed }).ask,
  });
}
