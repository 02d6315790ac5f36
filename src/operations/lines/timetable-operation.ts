import { z } from 'zod';
import type { LineDirection } from '../../lines/directions.ts';
import type { LineCatalogue } from '../../lines/lines.ts';
import { routeOf } from '../../routes.ts';
import { freshnessOfList, type StopRegister } from '../../stops/register.ts';
import { limitParameter, oneOf, optional, totalField } from '../../transit/parameter.ts';
import { writeRunId } from '../../transit/run-id.ts';
import { list, record, text, textOrNull } from '../../transit/schema.ts';
import {
  earliestMoment,
  formatTimestamp,
  timeParameter,
  timestampSchema,
  toSydneyWallClock,
} from '../../transit/time.ts';
import { defineOperation, requestedWallClock } from '../operation.ts';
import {
  dateField,
  directionIdField,
  exampleLine,
  exampleStops,
  formatDay,
  freshnessOfDay,
  headsignsField,
  lineFields,
  lineIdQuery,
  lineStopsField,
  noticesOfLeftOut,
  serviceDayQuery,
  toLineBody,
  toStopBody,
} from './line.ts';

const timetableQuery = z.object({
  line_id: lineIdQuery,
  date: serviceDayQuery,
  direction: optional(oneOf(['0', '1']), 'Only the direction with this `direction_id`.', '0'),
  time: optional(
    timeParameter,
    'Only runs that are still under way at this time or start later: `HHmm` (24-hour, Sydney time), or ISO 8601. Default: all.',
    '0830',
  ),
  limit: limitParameter(2000, '2000', 'runs in each direction'),
});

const runSchema = record('TimetableRun', 'A run: one column of the timetable.', {
  trip_id: textOrNull(
    'Run ID, as in `trip_id` of boards and journeys with `include=ids`; null if unknown',
    '08-B.775.17.492',
  ),
  run_id: textOrNull('ID for `/v1/runs/{run_id}`, which has live times on the day; null if unknown'),
  headsign: text('Headsign at the first stop', 'Berowra via Gordon'),
  times: list(
    timestampSchema.nullable(),
    'Planned departure from each of `stops`, UTC; at the last stop of the run its arrival; null where it does not stop',
  ),
});

const timetableResponse = record('LineTimetable', 'The timetable of a line on a day.', {
  ...lineFields,
  date: dateField,
  directions: list(
    record('TimetableDirection', 'The table of one direction: stops are rows, runs columns.', {
      direction_id: directionIdField,
      headsigns: headsignsField,
      stops: lineStopsField,
      runs: list(runSchema, 'In order of departure; empty if none runs'),
      total: totalField('runs that match', 96),
    }),
    'One or two directions',
  ),
});

const exampleBody: z.infer<typeof timetableResponse> = {
  ...exampleLine,
  directions: [
    {
      direction_id: 0,
      headsigns: ['Manly'],
      stops: exampleStops,
      runs: [
        {
          trip_id: 'F1-0820-OUT0',
          run_id: 'MSAyMDAwNzAgMCA3amQ3a3MgMDgtQi43NzUuMTcuNDkyLkIuOC45MDAzNDQ5MgtfyRWPqD8Tc',
          headsign: 'Manly',
          times: ['2026-11-19T21:20:00Z', '2026-11-19T21:50:00Z'],
        },
      ],
      total: 41,
    },
  ],
};

const NOT_FIXED = { text: 'Some runs have no fixed times: their times follow from the headway.' };

/** `GET /v1/lines/{line_id}/timetable` */
export const createTimetableOperation = ({ lines, stops }: { lines: LineCatalogue; stops: StopRegister }) =>
  defineOperation({
    ...routeOf('getLineTimetable'),
    tag: 'Stops',
    summary: 'Timetable of a line',
    description:
      'All runs of a line on a service day, as one table for each direction: stops are rows, runs are columns. Rows are in one order that fits every run, so times increase down each column. Planned times only; of runs without fixed times, those of a vehicle that keeps the headway exactly. Runs after midnight belong to the day before.',
    query: timetableQuery,
    body: timetableResponse,
    example: { query: 'line_id=ferry_F1&direction=0&time=0830&limit=5', body: exampleBody },
    tool: {
      description:
        'The timetable of a line on a day: for each direction the stops as rows, and the runs with their planned time at each stop. Get the `line_id` from listLines. Give `time` and `direction` to get few runs. For what leaves a stop now use getDepartures.',
      defaults: { limit: '5' },
    },

    async handle(query, { now, ids }) {
      const requested = requestedWallClock(query, now()) ?? toSydneyWallClock(now());
      const { line, directions } = await lines.load(query.line_id, requested.date);
      const from = query.time === undefined ? Number.NEGATIVE_INFINITY : earliestMoment(requested);
      // A table has thousands of times, but few different ones.
      const texts = new Map<number, string>();
      const format = (moment: number) => {
        const text = texts.get(moment) ?? formatTimestamp(moment);
        texts.set(moment, text);
        return text;
      };
      const toBody = ({ direction, headsigns, stops: rows, runs }: LineDirection) => {
        const laterRuns = runs.filter(({ endsAt }) => endsAt >= from);
        return {
          direction_id: direction,
          headsigns,
          stops: rows.map(toStopBody),
          runs: laterRuns.slice(0, query.limit).map((run) => {
            const start = { runId: run.tripId, stopId: run.firstStopId, mode: line.mode, plannedAt: run.startsAt };
            return {
              trip_id: run.tripId,
              run_id: writeRunId(start, ids),
              headsign: run.headsign,
              times: run.listTimes().map((moment) => (moment === null ? null : format(moment))),
            };
          }),
          total: laterRuns.length,
        };
      };
      const listedDirections = directions.filter(
        ({ direction }) => query.direction === undefined || String(direction) === query.direction,
      );
      const hasNoRuns = listedDirections.every(({ runs }) => runs.length === 0);
      return {
        body: { ...toLineBody(line), date: formatDay(requested.date), directions: listedDirections.map(toBody) },
        freshness: freshnessOfDay(query, freshnessOfList(stops, now()), now()),
        notices: [
          ...(hasNoRuns ? [{ text: `Line ${line.id} does not run on ${formatDay(requested.date)}.` }] : []),
          ...noticesOfLeftOut(listedDirections),
          ...(listedDirections.some(({ runs }) => runs.some((run) => !run.hasFixedTimes)) ? [NOT_FIXED] : []),
        ],
      };
    },
  });
