import type { Priority } from '../efa/client.ts';

/**
 * Who is served first when calls are scarce. Each floor is a part of the day's reserve (`pace.ts`): what has a higher
 * floor gives way earlier. Refreshing something that could be served stale gives way before asking something new, and
 * of the new what few ask for gives way before what many ask for: the same call answers more of them.
 */
export const PRIORITIES = {
  background: { rank: 0, refresh: 0.85, askRare: 0.85, askPopular: 0.85 },
  free: { rank: 1, refresh: 0.4, askRare: 0.3, askPopular: 0.25 },
  developer: { rank: 2, refresh: 0.38, askRare: 0.2, askPopular: 0.15 },
  pro: { rank: 3, refresh: 0.36, askRare: 0.1, askPopular: 0 },
} as const satisfies Record<Priority, { rank: number; refresh: number; askRare: number; askPopular: number }>;

export function higherOf(one: Priority, other: Priority): Priority {
  return PRIORITIES[one].rank >= PRIORITIES[other].rank ? one : other;
}
