import { hash } from 'node:crypto';
import { z } from 'zod';
import { carriageSchema } from './departure.ts';
import { describe, notAllowed, oneOf, optional, readAs, requiredText, splitList, withDefault } from './parameter.ts';

/*
 * Fields that a response has only when its caller asks for them. Without these parameters a response has exactly the
 * fields of the specification.
 */

/** `description` says where the cancelled records are listed. */
export function cancelledParameter(description: string) {
  const schema = withDefault(oneOf(['exclude', 'include']), 'exclude');
  return describe(
    schema,
    `\`include\` lists cancelled services too, and every record then has \`cancelled\`. ${description}`,
  );
}

export const cancelledField = z
  .boolean()
  .optional()
  .meta({ description: 'Whether it is cancelled; only with `cancelled=include`' });

/** Some of the words, in any case, with commas between; each has a description of the fields that it adds. */
export function includeParameter<Words extends Readonly<Record<string, string>>>(words: Words) {
  const known = Object.keys(words);
  const allowed = known.length > 1 ? `must be some of ${known.join(', ')}, separated by commas` : `must be ${known}`;
  return optional(
    readAs(requiredText(allowed), (text, refuse): readonly (keyof Words)[] => {
      const given = splitList(text.toLowerCase());
      const unknown = splitList(text).filter((word) => !known.includes(word.toLowerCase()));
      if (given.length === 0) return refuse(allowed);
      if (unknown.length > 0) return refuse(notAllowed(allowed, unknown), { isComplete: true });
      return known.filter((word) => given.includes(word));
    }).meta({
      type: 'array',
      items: { type: 'string', enum: known },
      minItems: 1,
      examples: [[known[0]]],
      description: Object.entries(words)
        .map(([word, description]) => `\`${word}\` adds ${description}`)
        .join(' '),
    }),
  );
}

/** In the descriptions of those words. */
export const COLORS_ADDED = 'the colours of each line, `color` and `text_color`.';
export const ALERT_TEXTS_ADDED =
  'each text of an alert once, in `alert_texts`: records name it in `alert_ids`, and their `alerts` are empty.';

export const CARRIAGES_ADDED =
  '`carriages`: how full each carriage of a train is predicted to be when it leaves the stop, where the feeds say so.';

export const carriagesField = z.array(carriageSchema).nullable().optional().meta({
  description:
    'How full each carriage is predicted to be when the train leaves here, the first one first; null where the feeds do not say. Only with `include=carriages`',
});

const accessField = z.boolean().nullable().optional();
const ONLY_WITH_ACCESS = 'Only with `include=access`';

export const vehicleAccessField = accessField.meta({
  description: `Whether the vehicle is wheelchair accessible; null where the authority says nothing of it. ${ONLY_WITH_ACCESS}`,
});

export const stopAccessField = accessField.meta({
  description: `Whether the stop is wheelchair accessible; null where the authority says nothing of it. ${ONLY_WITH_ACCESS}`,
});

export const tripIdField = z.string().nullable().optional().meta({
  description:
    'The run of the vehicle, the same on boards and in journeys; null where it is not known. It stays the same within a service day, and another day may use it again. Only with `include=ids`',
  example: '513A.1402.121.60.T.8.84719430',
});

export const alertIdsField = z
  .array(z.string())
  .optional()
  .meta({
    description:
      'Identifiers of the alerts; the same text has the same one in every response. Only with `include=ids` or `include=alert_texts`',
    example: ['nP3k9QzVx0'],
  });

export const alertTextsField = z.record(z.string(), z.string()).optional().meta({
  description: 'The texts of all alerts, by their identifiers. Only with `include=alert_texts`',
});

/** The additional fields that a caller asked for. */
export interface AskedFields {
  cancelled: 'exclude' | 'include';
  include?: readonly ('ids' | 'colors' | 'alert_texts' | 'access' | 'calls' | 'carriages')[] | undefined;
}

/** The alerts of one record: their texts, their identifiers, or both. */
export function alertFields(alerts: string[], include: AskedFields['include']) {
  const isApart = include?.includes('alert_texts');
  const hasIds = isApart || include?.includes('ids');
  return { alerts: isApart ? [] : alerts, ...(hasIds && { alert_ids: alerts.map(alertId) }) };
}

/** The texts of a body whose records only name them. */
export function alertTexts(records: readonly { alerts: readonly string[] }[], include: AskedFields['include']) {
  if (!include?.includes('alert_texts')) return {};
  return {
    alert_texts: Object.fromEntries(records.flatMap(({ alerts }) => alerts.map((text) => [alertId(text), text]))),
  };
}

/** Ten characters: among a million texts, two with the same identifier are unlikely. */
const ID_LENGTH = 10;

export function alertId(text: string): string {
  return hash('sha1', text, 'base64url').slice(0, ID_LENGTH);
}
