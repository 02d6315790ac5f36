import { z } from 'zod';
import { oneOf, optional, wholeBetween, withDefault } from './parameter.ts';
import { LONGEST_WALK_METRES, PACES, type Pace } from './walking.ts';

export const PREFERENCES = ['fewer_changes', 'less_walking'] as const;
export type Preference = (typeof PREFERENCES)[number];

const MOST_CHANGE_MINUTES = 60;

const paceNames = Object.keys(PACES) as [Pace, ...Pace[]];

/**
 * A rider's choices; the default applies to absent ones. `maxWalk` is the longest walk in metres of straight line. `minChange` is
 * the minimum number of minutes between two rides, including the walk.
 */
export const choicesSchema = z.strictObject({
  pace: z.enum(paceNames).optional(),
  maxWalk: z.int().min(0).max(LONGEST_WALK_METRES).optional(),
  minChange: z.int().min(0).max(MOST_CHANGE_MINUTES).optional(),
  prefer: z.enum(PREFERENCES).optional(),
});
export type Choices = z.infer<typeof choicesSchema>;

const NAMES = {
  pace: 'pace',
  maxWalk: 'max_walk',
  minChange: 'min_change',
  prefer: 'prefer',
} as const satisfies Record<keyof Choices, string>;

/** The names of the parameters behind the choices. */
export function listChosen(choices: Choices | undefined): string[] {
  return Object.keys(choices ?? {}).map((choice) => NAMES[choice as keyof Choices]);
}

const speeds = paceNames.map((pace) => `\`${pace}\` ${PACES[pace]}`).join(', ');

/** The parameters that searches for one or many destinations share. */
export const walkingParameters = {
  pace: withDefault(
    oneOf(paceNames),
    'normal',
    `Walking speed in metres a second: ${speeds}. Walks are 1.3 times as long as the straight line.`,
    'slow',
  ),
  max_walk: optional(
    wholeBetween(0, LONGEST_WALK_METRES),
    `Maximum length of each walk in metres, as in \`distance_metres\` of a leg: to the first stop, at each change, from the last stop, and all the way on foot. Without it, walks between two stops are at most half a kilometre, others a kilometre.`,
    400,
  ),
};

/** The parameters that only searches for journeys have. */
export const changeParameters = {
  min_change: optional(
    wholeBetween(0, MOST_CHANGE_MINUTES),
    'Minimum minutes between two rides, including the walk; 2 in journeys from the timetable. Staying in the vehicle is no change.',
    5,
  ),
  prefer: optional(
    oneOf(PREFERENCES),
    '`fewer_changes`: one more change must save 20 minutes. `less_walking`: a minute on foot counts as two.',
    'fewer_changes',
  ),
};

/** The choices of a query; undefined if nothing is chosen. */
export function toChoices(query: {
  pace: Pace;
  max_walk?: number | undefined;
  min_change?: number | undefined;
  prefer?: Preference | undefined;
}): Choices | undefined {
  const { pace, max_walk: maxWalk, min_change: minChange, prefer } = query;
  const choices: Choices = {
    ...(pace !== 'normal' && { pace }),
    ...(maxWalk !== undefined && { maxWalk }),
    ...(minChange !== undefined && { minChange }),
    ...(prefer && { prefer }),
  };
  return Object.keys(choices).length > 0 ? choices : undefined;
}
