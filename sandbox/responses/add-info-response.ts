import type { NetworkIndex, PatternNode, StopNode } from '../network/network-index.ts';
import { alertShape, lineNotices, type Notice, stopNotices } from '../notices.ts';
import { localDay, serviceDayStart } from '../timetable/timetable.ts';
import { timestamp, VERSION } from './common.ts';
import { nameWithSuburb } from './location.ts';
import { lineShape } from './transportation.ts';

/** Upstream's value for a notice without an end. */
const NO_END = '2500-12-31T13:59:00Z';

/**
 * The response of `add_info`: every notice of boards and journeys with the stops or lines that it is about, one notice that
 * begins in two days, and an outdated one on a run of 2024.
 */
export function addInfoResponse(index: NetworkIndex, _query: URLSearchParams, nowSeconds: number): object {
  const today = localDay(nowSeconds);
  const week = { from: timestamp(serviceDayStart(today - 3)), to: timestamp(serviceDayStart(today + 4)) };
  const later = { from: timestamp(serviceDayStart(today + 2)), to: timestamp(serviceDayStart(today + 5)) };
  const always = { from: '2026-01-01T00:00:00Z', to: NO_END };

  const ofLines = new Map<string, { notice: Notice; lines: Map<string, PatternNode> }>();
  for (const pattern of index.patterns) {
    for (const notice of lineNotices(pattern)) {
      const entry = ofLines.get(notice.id) ?? { notice, lines: new Map() };
      entry.lines.set(`${pattern.line.id} ${pattern.direction}`, pattern);
      ofLines.set(notice.id, entry);
    }
  }
  const lineEntries = [...ofLines.values()].map(({ notice, lines }) =>
    entry(notice, { lines: [...lines.values()].map(affectedLine) }, notice.priority === 'veryLow' ? always : week),
  );
  const stopEntries = index.stops.flatMap((home) => {
    const classes = home.classes.filter((productClass) => productClass === 1 || productClass === 2);
    const notices = classes.slice(0, 1).flatMap((productClass) => stopNotices(home, productClass));
    return notices.map((notice) => entry(notice, { stops: [affectedStop(home)] }, week, home));
  });
  const trains = index.patterns.find(({ line }) => line.product.class === 1);
  const coming = trains ? [entry(COMING, { lines: [affectedLine(trains)] }, later)] : [];
  const dead = trains ? [entry(OF_2024, { lines: [lineOf2024(trains)] }, { from: RUN_OF_2024, to: NO_END })] : [];
  return {
    version: VERSION,
    timestamp: timestamp(nowSeconds),
    infos: { current: [...dead, ...lineEntries, ...stopEntries, ...coming] },
  };
}

const COMING: Notice = {
  id: 'ems-81777',
  priority: 'high',
  type: 'lineInfo',
  listed: { announcementType: 'trackwork' },
  subtitle: 'Trackwork: buses replace trains',
  content: '<p>No trains run on the line. Use the replacement buses &amp; allow an extra hour.</p>',
};

const RUN_OF_2024 = '2024-09-12T07:04:00Z';

const OF_2024: Notice = {
  id: 'ems-40924',
  priority: 'veryHigh',
  type: 'tripMessage',
  subtitle: 'The 17:04 service is cancelled',
  content: 'The 17:04 service does not run. Use the next one.',
};

/** A run at `RUN_OF_2024`, in the form that notices use. */
function lineOf2024(pattern: PatternNode): object {
  const stops = pattern.points.map(({ id }, call) => ({
    id,
    departureTimePlanned: timestamp(Date.parse(RUN_OF_2024) / 1000 + (pattern.offsetSeconds[call] ?? 0)),
  }));
  const run = {
    realtimeTripId: '17-A.0912.1.1024.B.8.81234567',
    departureTimePlannedJourneyOrigin: RUN_OF_2024,
    stops,
  };
  return { ...affectedLine(pattern), trips: [run] };
}

function entry(notice: Notice, affected: object, validity: { from: string; to: string }, home?: StopNode): object {
  const timestamps = {
    creation: validity.from,
    lastModification: validity.from,
    availability: validity,
    validity: [validity],
  };
  const shape = alertShape(notice, home);
  const properties = { ...shape.properties, announcementType: 'serviceChange', ...notice.listed };
  return { ...shape, properties, timestamps, affected };
}

/** The list has no short names of lines. */
function affectedLine(pattern: PatternNode): object {
  return { ...lineShape(pattern, pattern.line.product.name), disassembledName: undefined };
}

function affectedStop(stop: StopNode): object {
  const parent = { name: stop.locality, type: 'locality' };
  return {
    id: stop.id,
    name: nameWithSuburb(stop),
    type: 'stop',
    parent,
    properties: { stopId: stop.stopId },
  };
}
