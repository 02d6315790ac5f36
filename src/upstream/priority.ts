import type { Priority } from '../efa/client.ts';

/**
 * Who is served first when calls are scarce. Each floor is a part of the day's reserve (`pace.ts`): what has a higher
 * floor gives way earlier. Refreshing something that could be served stale gives way before asking something new.
 */
export const PRIORITIES = {
  background: { rank: 0, refreshFloor: 0.85, askFloor: 0.85 },
  free: { rank: 1, refreshFloor: 0.4, askFloor: 0.25 },
  developer: { rank: 2, refreshFloor: 0.35, askFloor: 0.15 },
  pro: { rank: 3, refreshFloor: 0.3, askFloor: 0 },
} as const satisfies Record<Priority, { rank: number; refreshFloor: number; askFloor: number }>;

export function higherOf(one: Priority, other: Priority): Priority {
  return PRIORITIES[one].rank >= PRIORITIES[other].rank ? one : other;
}
