import { HOUR_MS } from '../core/clock.ts';
import type { ALERT_CATEGORIES, ALERT_KINDS, CurrentAlert, SEVERITIES } from '../transit/alert.ts';
import { freshnessOf } from '../transit/freshness.ts';
import { STOP_ID } from '../transit/region.ts';
import { parseTimestamp } from '../transit/time.ts';
import { mapAlerts, readInfos, restrictsWheelchairs } from './alerts.ts';
import { findMode } from './product-class.ts';
import type { QueryUpstream } from './query-upstream.ts';
import {
  firstElements,
  type JsonObject,
  MAX_LENGTH,
  readIdentifier,
  readList,
  readName,
  readObject,
  readRawText,
} from './response/field.ts';
import { mapRecords } from './response/record.ts';
import { findRouteName, findRunId, readTransportation, readVehicleProperties } from './response/run.ts';
import { findStopName, listIds, readStopPoint, type StopPoint } from './stop-point.ts';

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
  const category = CATEGORY_OF.get(readObject(properties)?.announcementType);
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
  const values = CAUSES.map((name) => readRawText(readObject(properties)?.[name])?.trim() ?? '');
  const cause = values.find((value) => CAUSE.test(value) && value !== 'unknown');
  return cause?.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase() ?? null;
}

/** The stops in the properties of an unparsed notice, each with the platforms it is about: "200070:2000395,2000396#200060". */
export function readNamedStops({ properties }: JsonObject): { id: string; platforms: string[] }[] {
  const text = readRawText(readObject(properties)?.stopIDglobalID) ?? '';
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
export async function readCurrentAlerts(queryUpstream: QueryUpstream) {
  const response = await queryUpstream({ kind: 'notices' });
  const { kept: notices, leftOut } = await mapRecords(response.payload.infos, readNotice, mapNotice);
  return { alerts: notices.flat(), leftOut, freshness: freshnessOf(response) };
}

/** The alerts of a notice attached to a departure or ride, which does not say when its run began. */
export function mapCarriedNotice(value: unknown): CurrentAlert[] {
  const notice = readNotice(value);
  const alerts = notice ? mapNotice(notice) : [];
  return alerts.map((alert) => ({ ...alert, runs: alert.runs.map((run) => ({ ...run, startsAt: null })) }));
}

/** Undefined if it is not an object. */
function readNotice(value: unknown) {
  const notice = readObject(value);
  const [info] = readInfos(notice);
  const affected = readObject(notice?.affected);
  const links = firstElements(notice?.infoLinks, 1).map(readObject);
  return (
    notice &&
    info && {
      info,
      kind: kindOf(notice),
      category: categoryOf(notice),
      cause: causeOf(notice),
      heading: readName(notice.subtitle) ?? readName(links[0]?.subtitle),
      url: readUrl(notice.url) ?? readUrl(links[0]?.url),
      timestamps: readObject(notice.timestamps),
      stops: mergeStops(readList(affected?.stops, readStopPoint, MAX_STOPS), readNamedStops(notice)),
      lines: readList(affected?.lines, readLine, MAX_LINES),
    }
  );
}

function mapNotice({
  info,
  kind,
  category,
  cause,
  heading,
  url,
  timestamps,
  stops,
  lines,
}: NonNullable<ReturnType<typeof readNotice>>): CurrentAlert[] {
  const times = { last: timestamps?.lastModification, first: timestamps?.creation };
  const alert = {
    title: heading?.trim() || null,
    kind,
    category,
    cause,
    severity: SEVERITY_OF.get(info.priority) ?? ('normal' as const),
    url: url ?? null,
    periods: readList(timestamps?.validity, readPeriod, MAX_PERIODS),
    stops,
    routes: lines.flatMap(({ route, mode, network }) => (route && mode ? { route, mode, network } : [])),
    runs: lines.flatMap(({ route, runs }) => runs.map((run) => ({ ...run, route }))).slice(0, MAX_RUNS),
    /** Whether it also affects runs that it does not name. */
    isOnWholeLines: lines.some(({ runs }) => runs.length === 0) || lines.length === 0,
    updatedAt: readTime(times.last) ?? readTime(times.first),
    restrictsWheelchairs: restrictsWheelchairs(info),
  };
  return mapAlerts([info]).map((text) => ({ ...alert, text }));
}

/** Each stop with all its IDs from upstream, its own first, and the platforms named there. */
function mergeStops(affected: readonly StopPoint[], namedStops: ReturnType<typeof readNamedStops>) {
  const stops = affected.map((stop) => ({
    ids: listIds(stop),
    name: findStopName(stop),
    platforms: [] as string[],
  }));
  for (const { id, platforms } of namedStops) {
    const stop = stops.find(({ ids }) => ids.includes(id));
    if (stop) stop.platforms.push(...platforms);
    else if (stops.length < MAX_STOPS) stops.push({ ids: [id], name: null, platforms });
  }
  return stops.filter(({ ids }) => ids.length > 0);
}

/** Undefined if it is not an object. */
function readLine(value: unknown) {
  const line = readTransportation(value);
  const productClass = line?.product?.class ?? line?.product?.iconId;
  return (
    line && {
      route: findRouteName(line),
      mode: productClass === undefined ? null : findMode(productClass),
      /** Lists give the network as boards do, or only by the line's icon. */
      network: line.product?.id ?? line.iconId ?? null,
      runs: readList(readObject(value)?.trips, readRun, MAX_RUNS),
    }
  );
}

/** Undefined if it is not an object. Looks for calls in every list, because the list's name was not recorded. */
function readRun(value: unknown) {
  const run = readObject(value);
  if (!run) return undefined;
  const calls = Object.values(run)
    .flatMap((list) => (Array.isArray(list) ? firstElements(list, MAX_CALLS) : []))
    .map(readObject);
  const times = calls.flatMap((call) =>
    [call?.departureTimePlanned, call?.arrivalTimePlanned].flatMap((time) => readTime(time) ?? []),
  );
  const startsAt = readTime(run.departureTimePlannedJourneyOrigin) ?? (times.length > 0 ? Math.min(...times) : null);
  const endsAt = times.length > 0 ? Math.max(...times) : startsAt && startsAt + MAX_RUN_MS;
  const ownId = readIdentifier(run.realtimeTripId)?.trim();
  return {
    tripId: ownId || findRunId(readVehicleProperties(run), readVehicleProperties(run.properties)),
    startsAt,
    endsAt,
  };
}

/** Undefined if it is not an object. */
function readPeriod(value: unknown) {
  const period = readObject(value);
  if (!period) return undefined;
  const until = readTime(period.to);
  return { from: readTime(period.from), until: until !== null && until < NO_END ? until : null };
}

function readTime(value: unknown): number | null {
  return parseTimestamp(readRawText(value))?.getTime() ?? null;
}

/** Upstream's older servers link to their own machine: "http://localhost:8085/…". */
const LOOPBACK = /^(?:localhost|127\.[\d.]+|\[::1\])$/;

/** Undefined if a browser would not open it as a page. */
function readUrl(value: unknown): string | undefined {
  const text = readIdentifier(value)?.trim() ?? '';
  const isPage = /^https?:\/\//i.test(text) && URL.canParse(text);
  return isPage && !LOOPBACK.test(new URL(text).hostname) ? text : undefined;
}
