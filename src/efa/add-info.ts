import { HOUR_MS } from '../core/clock.ts';
import type { ALERT_CATEGORIES, ALERT_KINDS, CurrentAlert, SEVERITIES } from '../transit/alert.ts';
import { freshnessOf } from '../transit/freshness.ts';
import { STOP_ID } from '../transit/region.ts';
import { parseTimestamp } from '../transit/time.ts';
import { mapAlerts, parseInfos, restrictsWheelchairs } from './alerts.ts';
import { toMode } from './product-class.ts';
import type { QueryUpstream } from './query-upstream.ts';
import {
  firstElements,
  type JsonObject,
  MAX_LENGTH,
  parseIdentifier,
  parseList,
  parseName,
  parseObject,
  parseRawText,
} from './response/field.ts';
import { mapRecords } from './response/record.ts';
import { parseTransportation, parseVehicleProperties, toRouteName, toRunId } from './response/run.ts';
import { listIds, parseStopPoint, type StopPoint, toStopName } from './stop-point.ts';

/** Severity by upstream's `priority`, most severe first. */
const SEVERITY_OF = new Map<unknown, (typeof SEVERITIES)[number]>(
  Object.entries({
    veryHigh: 'very_high',
    high: 'high',
    normal: 'normal',
    low: 'low',
    veryLow: 'very_low',
  }),
);

/** The subject of a notice by upstream's `type`, fewest affected riders first. */
const KIND_OF = new Map<unknown, (typeof ALERT_KINDS)[number]>(
  Object.entries({
    tripMessage: 'run',
    lineInfo: 'line',
    routeInfo: 'line',
    stopInfo: 'stop',
    stopBlocking: 'stop',
    infrastructure: 'facility',
  }),
);

const CATEGORY_OF = new Map<unknown, (typeof ALERT_CATEGORIES)[number]>(
  Object.entries({
    trackwork: 'trackwork',
    serviceChange: 'service_change',
    liftsEscalators: 'lifts_escalators',
  }),
);

/** Boards and journeys lack the category, but upstream uses the type `infrastructure` only for lifts and escalators. */
function categoryOf({ type, properties }: JsonObject): (typeof ALERT_CATEGORIES)[number] | null {
  const category = CATEGORY_OF.get(parseObject(properties)?.announcementType);
  return category ?? (type === 'infrastructure' ? 'lifts_escalators' : null);
}

/** The subject of an unparsed notice. Upstream's older servers mark lift notices only in the properties. */
export function kindOf(notice: JsonObject): (typeof ALERT_KINDS)[number] {
  return categoryOf(notice) === 'lifts_escalators' ? 'facility' : (KIND_OF.get(notice.type) ?? 'general');
}

/**
 * Properties of a notice that may contain its cause. The last two are not in any recording; they are the other groups of causes
 * in SIRI.
 */
const CAUSES = ['EquipmentReason', 'MiscellaneousReason', 'AlertCause', 'EnvironmentReason', 'PersonnelReason'];
const CAUSE = /^[A-Za-z]{1,60}$/;

/** "liftFailure" becomes "lift_failure". */
function causeOf({ properties }: JsonObject): string | null {
  const values = CAUSES.map((name) => parseRawText(parseObject(properties)?.[name])?.trim() ?? '');
  const cause = values.find((value) => CAUSE.test(value) && value !== 'unknown');
  return cause?.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase() ?? null;
}

/** The stops in the properties of an unparsed notice, each with the platforms it is about: "200070:2000395,2000396#200060". */
export function parseNamedStops({ properties }: JsonObject): { id: string; platforms: string[] }[] {
  const text = parseRawText(parseObject(properties)?.stopIDglobalID) ?? '';
  if (text.length > MAX_LENGTH) return [];
  const stops = text.split('#').map((stop) => stop.split(/[:,]/).map((id) => id.trim()));
  return stops
    .filter(([id = '']) => STOP_ID.test(id))
    .map(([id = '', ...platforms]) => ({ id, platforms: platforms.filter((platform) => STOP_ID.test(platform)) }));
}

/** Limits on what one notice names; a network-wide notice may name every stop of a line. */
const MAX_STOPS = 500;
const MAX_LINES = 200;
const MAX_RUNS = 200;
const MAX_CALLS = 200;
const MAX_PERIODS = 50;
/** "31.12.2500" means no end. */
const NO_END = Date.UTC(2100, 0);
/** The maximum duration of a run; used only if no later time is known. */
const MAX_RUN_MS = 12 * HOUR_MS;

/** Every notice that upstream lists, including expired ones. Each text is an alert of its own, as on boards. */
export async function fetchCurrentAlerts(queryUpstream: QueryUpstream) {
  const response = await queryUpstream({ kind: 'notices' });
  const { kept: notices, leftOut } = await mapRecords(response.payload.infos, parseObject, mapNotice);
  return { alerts: notices.flat(), leftOut, freshness: freshnessOf(response) };
}

/** The alerts of a notice attached to a departure or ride, which does not say when its run began. */
export function mapCarriedNotice(value: unknown): CurrentAlert[] {
  const notice = parseObject(value);
  const alerts = notice ? mapNotice(notice) : [];
  return alerts.map((alert) => ({ ...alert, runs: alert.runs.map((run) => ({ ...run, startsAt: null })) }));
}

function mapNotice(notice: JsonObject): CurrentAlert[] {
  const infos = parseInfos(notice);
  const affected = parseObject(notice.affected);
  const [link] = firstElements(notice.infoLinks, 1).map(parseObject);
  const timestamps = parseObject(notice.timestamps);
  const lines = parseList(affected?.lines, parseLine, MAX_LINES);
  const heading = parseName(notice.subtitle) ?? parseName(link?.subtitle);
  const alert = {
    title: heading?.trim() || null,
    kind: kindOf(notice),
    category: categoryOf(notice),
    cause: causeOf(notice),
    severity: SEVERITY_OF.get(parseRawText(notice.priority)) ?? ('normal' as const),
    url: parseUrl(notice.url) ?? parseUrl(link?.url) ?? null,
    periods: parseList(timestamps?.validity, parsePeriod, MAX_PERIODS),
    stops: mergeStops(parseList(affected?.stops, parseStopPoint, MAX_STOPS), parseNamedStops(notice)),
    routes: lines.flatMap(({ route, mode, network }) => (route && mode ? { route, mode, network } : [])),
    runs: lines.flatMap(({ route, runs }) => runs.map((run) => ({ ...run, route }))).slice(0, MAX_RUNS),
    /** Whether it also affects runs that it does not name. */
    isOnWholeLines: lines.some(({ runs }) => runs.length === 0) || lines.length === 0,
    updatedAt: parseTime(timestamps?.lastModification) ?? parseTime(timestamps?.creation),
    restrictsWheelchairs: infos.some(restrictsWheelchairs),
  };
  return mapAlerts(infos).map((text) => ({ ...alert, text }));
}

/** Each stop with all its IDs from upstream, its own first, and the platforms named there. */
function mergeStops(affected: readonly StopPoint[], namedStops: ReturnType<typeof parseNamedStops>) {
  const stops = affected.map((stop) => ({
    ids: listIds(stop),
    name: toStopName(stop),
    platforms: [] as string[],
  }));
  for (const { id, platforms } of namedStops) {
    const stop = stops.find(({ ids }) => ids.includes(id));
    if (stop) stop.platforms.push(...platforms);
    else if (stops.length < MAX_STOPS) stops.push({ ids: [id], name: null, platforms });
  }
  return stops.filter(({ ids }) => ids.length > 0);
}

function parseLine(value: unknown) {
  const line = parseTransportation(value);
  const productClass = line?.product?.class ?? line?.product?.iconId;
  return (
    line && {
      route: toRouteName(line),
      mode: productClass === undefined ? null : toMode(productClass),
      /** Lists give the network as boards do, or only by the line's icon. */
      network: line.product?.id ?? line.iconId ?? null,
      runs: parseList(parseObject(value)?.trips, parseRun, MAX_RUNS),
    }
  );
}

/** Undefined if it is not an object. Looks for calls in every list, because the list's name was not recorded. */
function parseRun(value: unknown) {
  const run = parseObject(value);
  if (!run) return undefined;
  const calls = Object.values(run)
    .flatMap((list) => (Array.isArray(list) ? firstElements(list, MAX_CALLS) : []))
    .map(parseObject);
  const times = calls.flatMap((call) =>
    [call?.departureTimePlanned, call?.arrivalTimePlanned].flatMap((time) => parseTime(time) ?? []),
  );
  const startsAt = parseTime(run.departureTimePlannedJourneyOrigin) ?? (times.length > 0 ? Math.min(...times) : null);
  const endsAt = times.length > 0 ? Math.max(...times) : startsAt && startsAt + MAX_RUN_MS;
  const ownId = parseIdentifier(run.realtimeTripId)?.trim();
  return {
    tripId: ownId || toRunId(parseVehicleProperties(run), parseVehicleProperties(run.properties)),
    startsAt,
    endsAt,
  };
}

function parsePeriod(value: unknown) {
  const period = parseObject(value);
  if (!period) return undefined;
  const until = parseTime(period.to);
  return { from: parseTime(period.from), until: until !== null && until < NO_END ? until : null };
}

function parseTime(value: unknown): number | null {
  return parseTimestamp(parseRawText(value)) ?? null;
}

/** Upstream's older servers link to their own machine: "http://localhost:8085/…". */
const LOOPBACK = /^(?:localhost|127\.[\d.]+|\[::1\])$/;

/** Undefined if a browser would not open it as a page. */
function parseUrl(value: unknown): string | undefined {
  const text = parseIdentifier(value)?.trim() ?? '';
  const isPage = /^https?:\/\//i.test(text) && URL.canParse(text);
  return isPage && !LOOPBACK.test(new URL(text).hostname) ? text : undefined;
}
