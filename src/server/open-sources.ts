import { join } from 'node:path';
import { AlertList } from '../alerts/alert-list.ts';
import type { Config } from '../config.ts';
import { systemClock as clock, type Deadlines } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { SharedRedis } from '../core/redis/shared-redis.ts';
import { openPunctuality } from '../extensions/punctuality/punctuality.ts';
import { type Instruments, recordBoard } from '../extensions/telemetry/instruments.ts';
import type { GivenSources } from '../operations/sources.ts';
import { listFeedSources } from '../realtime/polling/feed-source.ts';
import { StopRegister } from '../stops/register.ts';
import { Suburbs, sweepSuburbs } from '../stops/suburbs.ts';
import { MODES } from '../transit/mode.ts';
import { openCarParks } from './open-car-parks.ts';
import { openJourneys } from './open-journeys.ts';
import type { Protection } from './open-protection.ts';
import { openRealtime } from './open-realtime.ts';
import { openTimetable } from './open-timetable.ts';
import { Preparations } from './preparations.ts';
import type { Upstream } from './upstream-source.ts';

/** Opens the data sources of all operations. */
export async function openSources(
  config: Config,
  options: {
    upstream: Upstream;
    protection: Protection;
    redis: SharedRedis | null;
    deadlines: Deadlines;
    instruments: Instruments;
    log: Log<'info' | 'warn' | 'error'>;
  },
) {
  const { upstream, protection, redis, instruments, log } = options;
  const { isSandbox, source } = upstream;
  const { queryUpstream, callForFeed, traffic } = protection;
  const { dataDir, upstreamProxy: proxyUrl, without } = config;
  const files = { ...upstream, proxyUrl, timeoutMs: options.deadlines.callMs, callForFeed, clock, log };
  const timetable = await openTimetable(config, { ...upstream, callForFeed, log });
  const suburbs = isSandbox ? null : new Suburbs(dataDir, log);
  const stops = new StopRegister(upstream.loadStops, { timetable, planner: suburbs ?? upstream.planner });
  const alerts = new AlertList({ now: clock.now, stops, queryUpstream });
  const punctuality =
    config.timetable.mode === 'off' || without.includes('punctuality')
      ? null
      : openPunctuality({
          path: join(dataDir, isSandbox ? 'punctuality-of-the-sandbox.db' : 'punctuality.db'),
          isSandbox,
          timetable: timetable.get,
          clock,
          log,
        });
  const { feeds, ...live } = openRealtime({
    ...files,
    timetable,
    listAlerts: alerts.alertsOf,
    queryUpstream,
    shared: redis && { redis, source },
    recordPoll: (feed, outcome) => instruments.feedPolls.inc({ feed, outcome }),
    recordBoard: (board) => recordBoard(board, traffic, instruments),
    published: punctuality?.record,
  });
  const preparations = new Preparations();
  // Feeds that no caller needs are polled, in advance and for the record of past runs, only if all their calls are reserved.
  if (feeds && !isSandbox && protection.reservesFeeds) {
    const all = listFeedSources(MODES);
    const pollAll = () => {
      feeds.request(all);
      return feeds.untilPolled(all);
    };
    // Not before the first timetable: no feed is of use without one, and upstream refuses files if it gets too many requests.
    if (timetable.get()) preparations.add('the feeds have not been polled yet', pollAll());
    timetable.beforeChange(pollAll);
    punctuality?.useFeeds(() => feeds.request(all));
  }
  const planning = openJourneys({
    mode: config.journeys,
    timetable,
    feeds,
    stops,
    listAlerts: alerts.alertsOf,
    listLiftsOut: alerts.liftsOut,
    isScarce: protection.isScarce,
    preparations,
    log,
    record: ({ source, reason = '' }) => instruments.journeys.inc({ source, reason }),
    compared: (agrees) => instruments.journeysCompared.inc({ agrees: agrees ? 'yes' : 'no' }),
  });
  const carParks = without.includes('carparks') ? null : openCarParks({ ...files, dataDir, redis });

  const sources: GivenSources = {
    queryUpstream: protection.queryForCallers,
    callsPerSecond: protection.callsPerSecond,
    boards: live.boards,
    runs: live.runs,
    vehicles: live.vehicles,
    journeys: planning.journeys,
    ...(planning.reach && { reach: planning.reach }),
    carParks,
    punctuality,
    stops,
    alerts,
  };
  return {
    sources,
    feeds,
    timetable,
    preparations,
    /** Functions that report the state of the sources, for the status page and the metrics. */
    status: {
      live: live.report,
      carParks: carParks ? () => carParks.status() : undefined,
      timetable: timetable.status,
      punctuality: punctuality?.state,
    },
    /** Starts looking up suburbs, groups of poles and Canberra's stops in the background; returns a function that ends it. */
    sweep: () => suburbs && sweepSuburbs(suburbs, { stops, queryUpstream, clock, log }),
    async close() {
      for (const part of [planning, timetable, live, carParks, punctuality]) await part?.close();
    },
  };
}
