import { hash } from 'node:crypto';
import { z } from 'zod';
import { carriageSchema } from './departure.ts';
import { lineIdField } from './line-id.ts';
import { oneOf, optional, someOf, withDefault } from './parameter.ts';
import { field } from './schema.ts';
import type { VehicleAccess } from './vehicle-access.ts';

/** Optional response fields. Without these parameters a response has exactly the fields of the specification. */

/** The `cancelled` parameter; `description` says where cancelled records appear. */
export function cancelledParameter(description: string) {
  return withDefault(
    oneOf(['exclude', 'include']),
    'exclude',
    `\`include\` also lists cancelled services and adds \`cancelled\` to every record. ${description}`,
  );
}

export const cancelledField = field(
  z.boolean().optional(),
  'Whether the service is cancelled; only with `cancelled=include`',
);

/** A comma-separated list of `words`, in any case. `words` maps each word to a description of the fields that it adds. */
export function includeParameter<Words extends Readonly<Record<string, string>>>(words: Words) {
  const added = Object.entries(words).map(([word, description]) => `\`${word}\` adds ${description}`);
  return optional(someOf(Object.keys(words) as [keyof Words & string]), added.join(' '));
}

/** Descriptions for the words of `include`. */
export const COLORS_ADDED = '`color` and `text_color`, the colours of each line.';
export const ALERT_TEXTS_ADDED =
  '`alert_texts`, with each alert text once; records refer to it by `alert_ids`, and their `alerts` are empty.';

export const CARRIAGES_ADDED =
  '`carriages`, the predicted occupancy of each train carriage on leaving the stop, if the feeds report it.';

export const OCCUPANCY_ADDED =
  '`occupancy_source`, and the usual occupancy of this weekday where none is reported for the vehicle. Trains only.';

export const DELAY_ADDED =
  '`delay_seconds` wherever there is a live time: how much later than planned that is, negative if it is earlier.';

export const delayField = field(
  z.int().nullable().optional(),
  'Live time minus planned time in seconds; null without live data. Only with `include=delay`',
  48,
);

/** The field `delay_seconds` of one time, if it is requested. Times are in milliseconds since 1970. */
export function delayFields(
  plannedAt: number | null | undefined,
  realtimeAt: number | null | undefined,
  include: RequestedFields['include'],
): { delay_seconds?: number | null } {
  if (!include?.includes('delay')) return {};
  // Whole seconds as in the timestamps, so that callers get the same difference.
  const isKnown = typeof plannedAt === 'number' && typeof realtimeAt === 'number';
  return { delay_seconds: isKnown ? Math.floor(realtimeAt / 1000) - Math.floor(plannedAt / 1000) : null };
}

export const carriagesField = field(
  z.array(carriageSchema).nullable().optional(),
  'Predicted occupancy of each carriage when the train leaves this stop, front carriage first; null if unknown. Only with `include=carriages`',
);

/** The fields of a vehicle with `include=access`. */
export const vehicleAccessFields = {
  vehicle_accessible: field(
    z.boolean().nullable().optional(),
    'Whether the vehicle is wheelchair accessible; null if unknown. Only with `include=access`',
  ),
  bikes_allowed: field(
    z.boolean().nullable().optional(),
    'Whether at least one bicycle may be taken on board, by the timetable; null if unknown. Only with `include=access`',
  ),
};

/** For schemas of the same record that have no `include=access`. */
export const WITHOUT_VEHICLE_ACCESS = { vehicle_accessible: true, bikes_allowed: true } as const;

export function toVehicleAccessBody({ wheelchairs, bikes }: VehicleAccess, include: RequestedFields['include']) {
  return include?.includes('access') ? { vehicle_accessible: wheelchairs, bikes_allowed: bikes } : {};
}

export const stopAccessField = field(
  z.boolean().nullable().optional(),
  'Whether the stop is wheelchair accessible; null if unknown. Only with `include=access`',
);

export const requestedLineIdField = field(
  lineIdField.nullable().optional(),
  'ID for `/v1/lines/{line_id}`; null on a walk and if the line is not in the timetable. Only with `include=ids`',
);

export const THROUGH_ADDED =
  '`through_to`, where the vehicle goes on to with its riders on board, if that is another place than its headsign names.';

export const throughToField = field(
  z.string().nullable().optional(),
  'The headsign under which the vehicle goes on with its riders on board; null if it does not, or still shows the same place. Only with `include=through`',
  'Hornsby via Strathfield',
);

export const tripIdField = field(
  z.string().nullable().optional(),
  'The ID of the run, the same on boards and in journeys; null if unknown. Stable within a service day; another day may reuse it. Only with `include=ids`',
  '513A.1402.121.60.T.8.84719430',
);

export const alertIdsField = field(
  z.array(z.string()).optional(),
  'IDs of the alerts; the same text has the same ID in every response. Only with `include=ids` or `include=alert_texts`',
  ['nP3k9QzVx0'],
);

export const alertTextsField = field(
  z.record(z.string(), z.string()).optional(),
  'The texts of all alerts, keyed by ID. Only with `include=alert_texts`',
);

/** The additional fields that the caller requested. */
export interface RequestedFields {
  cancelled: 'exclude' | 'include';
  include?:
    | readonly (
        | 'ids'
        | 'colors'
        | 'alert_texts'
        | 'access'
        | 'calls'
        | 'carriages'
        | 'occupancy'
        | 'changes'
        | 'delay'
        | 'through'
        | 'alternatives'
        | 'usual'
      )[]
    | undefined;
}

/** The alerts of one record: texts, IDs, or both. */
export function alertFields(alerts: string[], include: RequestedFields['include']) {
  const isApart = include?.includes('alert_texts');
  const hasIds = isApart || include?.includes('ids');
  return { alerts: isApart ? [] : alerts, ...(hasIds && { alert_ids: alerts.map(alertId) }) };
}

/** The alert texts of all records by ID, for a body whose records only refer to them. */
export function alertTexts(records: readonly { alerts: readonly string[] }[], include: RequestedFields['include']) {
  if (!include?.includes('alert_texts')) return {};
  return {
    alert_texts: Object.fromEntries(records.flatMap(({ alerts }) => alerts.map((text) => [alertId(text), text]))),
  };
}

/** Ten characters make a collision unlikely even among a million texts. */
const ID_LENGTH = 10;

export function alertId(text: string): string {
  return hash('sha1', text, 'base64url').slice(0, ID_LENGTH);
}
