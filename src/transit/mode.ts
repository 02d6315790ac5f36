import { z } from 'zod';
import { MODES, type Mode } from './modes.ts';
import { notAllowed, parameterOf, requiredText, splitList } from './parameter.ts';

export { MODES, type Mode } from './modes.ts';

export const modeSchema = z.enum(MODES).meta({ id: 'Mode', description: 'The kind of vehicle', examples: ['train'] });
export const legModeSchema = z
  .enum([...MODES, 'walk'])
  .meta({ id: 'LegMode', description: 'The kind of vehicle, or a walk', examples: ['ferry'] });

const allowed = `must be all or some of ${MODES.join(', ')}, separated by commas`;

/** The `modes` parameter: case-insensitive, duplicates removed, `all` wins. The result is in the order of `MODES`. */
export const modesParameter = parameterOf(requiredText(allowed), (text, refuse): Mode[] => {
  const names = splitList(text.toLowerCase());
  const unknown = splitList(text).filter((name) => name.toLowerCase() !== 'all' && !isMode(name.toLowerCase()));
  if (names.length === 0) return refuse(allowed);
  if (unknown.length > 0)
    return refuse(notAllowed(allowed, unknown), { isComplete: true, hint: suggestModes(unknown) });
  return names.includes('all') ? [...MODES] : sortModes(names.filter(isMode));
}).meta({
  type: 'array',
  items: { type: 'string', enum: ['all', ...MODES] },
  minItems: 1,
  examples: [['train', 'bus']],
  description: `\`all\`, or some of ${MODES.map((mode) => `\`${mode}\``).join(', ')} separated by commas.`,
});

/** Other names that callers use for modes, in lower case without blanks and hyphens. */
const OTHER_NAMES: Readonly<Record<string, Mode>> = {
  tram: 'lightrail',
  rail: 'train',
  subway: 'metro',
  boat: 'ferry',
};

function suggestModes(unknown: readonly string[]): string | undefined {
  const meant = unknown.flatMap((name) => {
    const plainName = name.toLowerCase().replace(/[ _-]/g, '');
    const names = [plainName, plainName.replace(/s$/, ''), plainName.replace(/es$/, '')];
    return names.flatMap((name) =>
      Object.hasOwn(OTHER_NAMES, name) ? (OTHER_NAMES[name] ?? []) : isMode(name) ? name : [],
    );
  });
  return meant.length > 0 ? `Did you mean ${AND.format(sortModes(meant).map((mode) => `\`${mode}\``))}?` : undefined;
}

const MAX_ROUTES = 50;
const routesAllowed = `must be 1 to ${MAX_ROUTES} short route names or line IDs separated by commas`;

/** Route names and line IDs in upper case, because they are compared case-insensitively. */
export const routesParameter = requiredText(routesAllowed)
  .transform((text) => [...new Set(splitList(text.toUpperCase()))].sort())
  .refine((routes) => routes.length >= 1 && routes.length <= MAX_ROUTES, routesAllowed)
  .meta({
    type: 'array',
    items: { type: 'string' },
    minItems: 1,
    maxItems: MAX_ROUTES,
    examples: [['333', 'T1']],
    description: `Only these routes: up to ${MAX_ROUTES} short names or line IDs (\`T4\` or \`train_T4\`) separated by commas. Only the next 120 vehicles of the selected modes are searched.`,
  });

/** "Train", "Train and metro" */
export function nameModes(modes: readonly Mode[]): string {
  const words = AND.format(modes);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const AND = new Intl.ListFormat('en-AU');

/** The modes without duplicates, in the order of `MODES`. */
export function sortModes(modes: Iterable<Mode>): Mode[] {
  const unique = new Set(modes);
  return MODES.filter((mode) => unique.has(mode));
}

function isMode(name: string): name is Mode {
  return (MODES as readonly string[]).includes(name);
}
