import { z } from 'zod';
import { unknownStop } from '../../errors/messages.ts';
import type { LineCatalogue } from '../../lines/lines.ts';
import { routeOf } from '../../routes.ts';
import type { StopRegister } from '../../stops/register.ts';
import { FRESHNESS_WINDOWS, freshFrom } from '../../transit/freshness.ts';
import { onTimeRuleOf } from '../../transit/on-time-rule.ts';
import {
  describe,
  optional,
  type ProblemDetails,
  parameterOf,
  requiredText,
  someOf,
  splitList,
  wholeBetween,
  withDefault,
} from '../../transit/parameter.ts';
import { stopIdParameter } from '../../transit/place.ts';
import { figureFields, type Punctuality, toFiguresBody } from '../../transit/punctuality.ts';
import { count, field, list, record, text, textOrNull } from '../../transit/schema.ts';
import { formatOrNull, timestampSchema } from '../../transit/time.ts';
import { defineOperation, type Notice } from '../operation.ts';
import { dateField, formatDay, lineFields, lineIdQuery } from './line.ts';

const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const KEPT_DAYS = 90;

const weekdayNames = someOf(WEEKDAYS);
const weekdayParameter = weekdayNames
  .transform((names): number[] => names.map((name) => WEEKDAYS.indexOf(name)))
  .meta({ ...weekdayNames.meta(), examples: [['mon', 'fri']] });

const hoursAllowed = 'must be whole hours from 0 to 23, separated by commas';
const hourSchema = wholeBetween(0, 23);
const hourParameter = parameterOf(requiredText(hoursAllowed), (text, refuse): number[] => {
  const words = splitList(text);
  const hours = words.map((word) => hourSchema.safeParse(word).data);
  const known = hours.filter((hour) => hour !== undefined);
  if (known.length === 0 || known.length < hours.length) return refuse(hoursAllowed);
  return [...new Set(known)].sort((one, other) => one - other);
}).meta({
  type: 'array',
  items: { type: 'integer', minimum: 0, maximum: 23 },
  minItems: 1,
  examples: [[7, 8]],
});

const clockAllowed = 'must be a time of day such as 0812';
const clockParameter = parameterOf(requiredText(clockAllowed), (text, refuse): number => {
  const [, hour, minute] = /^([01]\d|2[0-3]):?([0-5]\d)$/.exec(text.trim()) ?? [];
  return hour === undefined ? refuse(clockAllowed) : Number(hour) * 60 + Number(minute);
}).meta({ type: 'string', pattern: '^([01]\\d|2[0-3]):?[0-5]\\d$', examples: ['0812'] });

const punctualityQuery = z
  .object({
    line_id: lineIdQuery,
    stop: optional(stopIdParameter, 'Only calls at this stop. A station includes its platforms.', '200070'),
    time: optional(
      clockParameter,
      'Only the run planned at `stop` at this time of day, `HHmm` in Sydney; over all days, also where the run has another ID.',
    ),
    weekday: optional(weekdayParameter, 'Only calls planned on these days of the week in Sydney.'),
    hour: optional(hourParameter, 'Only calls planned in these hours of the day in Sydney, 0 to 23.'),
    days: withDefault(
      describe(
        wholeBetween(1, KEPT_DAYS),
        'How many service days count, today included. Runs after midnight belong to the day before.',
        28,
      ),
      String(KEPT_DAYS),
    ),
  })
  .refine(({ stop, time }) => time === undefined || stop !== undefined, {
    path: ['time'],
    message: '`time` needs `stop`: it is the planned time there.',
    params: { isSentence: true } satisfies ProblemDetails,
  });

const ruleSchema = record('OnTimeRule', 'What counts as on time.', {
  earliest_seconds: field(
    z.int().nullable(),
    'A call is on time from this many seconds after the timetable (negative: before it); null: at any time before',
    -119,
  ),
  latest_seconds: field(z.int(), 'A call is on time up to this many seconds after the timetable', 359),
  source: text('Where the rule is from, and how the source counts'),
});

const punctualityResponse = record('Punctuality', 'How punctual a line was.', {
  line_id: lineFields.line_id,
  route: lineFields.route,
  mode: lineFields.mode,
  stop_id: textOrNull('The requested stop; null for all', '200070'),
  recorded_since: field(
    timestampSchema.nullable(),
    'When the first run that this service has recorded began, of any line, UTC; null if there is none yet',
  ),
  recorded_days: count(
    'Number of service days with calls in these figures. Days and hours without feeds are missing',
    41,
  ),
  first_day: field(dateField.nullable(), 'The first of these days; null if there is none'),
  last_day: field(dateField.nullable(), 'The last of these days; null if there is none'),
  on_time_rule: ruleSchema,
  ...figureFields,
  by_weekday: list(
    record('WeekdayPunctuality', 'Figures of one day of the week.', {
      weekday: field(z.enum(WEEKDAYS), 'Day of the week in Sydney'),
      ...figureFields,
    }),
    'Monday first, without days on which nothing was recorded',
  ),
  by_hour: list(
    record('HourPunctuality', 'Figures of one hour of the day.', {
      hour: field(z.int().min(0).max(23), 'Number of the hour in Sydney, 0 from midnight', 8),
      ...figureFields,
    }),
    'In order, without hours in which nothing was recorded',
  ),
});

const EXAMPLE_FIGURES = {
  runs: 82,
  calls: 1604,
  cancelled_calls: 16,
  on_time_share: 0.9308,
  median_late_seconds: 41,
  p90_late_seconds: 262,
  cancelled_share: 0.0099,
};

const exampleBody: z.infer<typeof punctualityResponse> = {
  line_id: 'ferry_F1',
  route: 'F1',
  mode: 'ferry',
  stop_id: null,
  recorded_since: '2026-11-19T13:02:11Z',
  recorded_days: 2,
  first_day: '2026-11-19',
  last_day: '2026-11-20',
  on_time_rule: {
    earliest_seconds: -119,
    latest_seconds: 359,
    source: onTimeRuleOf({ mode: 'ferry', route: 'F1' }).source,
  },
  ...EXAMPLE_FIGURES,
  by_weekday: [{ weekday: 'fri', ...EXAMPLE_FIGURES }],
  by_hour: [{ hour: 8, ...EXAMPLE_FIGURES }],
};

const NOTHING: Notice = {
  text: 'Nothing is recorded for this query yet. Runs are recorded from the feeds while the service runs.',
};

/** `GET /v1/lines/{line_id}/punctuality` */
export const createPunctualityOperation = ({
  lines,
  stops,
  punctuality,
}: {
  lines: LineCatalogue;
  stops: StopRegister;
  punctuality: Punctuality;
}) =>
  defineOperation({
    ...routeOf('getLinePunctuality'),
    tag: 'Stops',
    summary: 'Punctuality of a line',
    description:
      'How late a line was in the last 90 days: share on time, median and 90th percentile of the seconds late, and share cancelled, each with the number of runs behind it, in all and by weekday and hour. `stop` limits it to a stop, `stop` and `time` to one run, `weekday` and `hour` to times of the week.\n\nEach call of a run at a stop counts once, by its departure; at the last stop by its arrival. Its time is the last prediction in the realtime feeds before the vehicle passed, published at most five minutes before, or the actual time where the feed has it. Calls that no feed had then are unknown and count nowhere: a gap in the feeds is no punctuality. A percentile is the nearest rank: the smallest value that at least this share of the calls does not exceed.',
    query: punctualityQuery,
    body: punctualityResponse,
    example: { query: 'line_id=ferry_F1', body: exampleBody },
    tool: {
      description:
        'How punctual a line was in the last weeks: share on time, median and 90th percentile of seconds late, share cancelled, and the runs behind them, by weekday and hour. Get the `line_id` from listLines. `stop` with `time` gives one daily run.',
    },

    async handle(query, { now }) {
      const line = lines.get(query.line_id);
      const parts = query.stop === undefined ? null : stops.partsOf(query.stop);
      if (query.stop !== undefined && parts?.length === 0 && !stops.get(query.stop)) throw unknownStop(query.stop);
      const { timetable } = lines;
      const rule = onTimeRuleOf(line);
      const found = await punctuality.load({
        lineId: line.id.toUpperCase(),
        rule,
        days: query.days,
        stopIds: parts?.map((stop) => timetable.stop(stop).id) ?? null,
        weekdays: query.weekday ?? null,
        hours: query.hour ?? null,
        minute: query.time ?? null,
      });
      const { since } = punctuality.state();
      const [first, last] = [found.days.at(0), found.days.at(-1)];
      const body = {
        line_id: line.id,
        route: line.route,
        mode: line.mode,
        stop_id: query.stop ?? null,
        recorded_since: formatOrNull(since),
        recorded_days: found.days.length,
        first_day: first === undefined ? null : formatDay(first),
        last_day: last === undefined ? null : formatDay(last),
        on_time_rule: {
          earliest_seconds: rule.earliestSeconds,
          latest_seconds: rule.latestSeconds,
          source: rule.source,
        },
        ...toFiguresBody(found.total),
        by_weekday: found.byWeekday.flatMap((figures, weekday) =>
          figures.runs === 0 ? [] : [{ weekday: WEEKDAYS[weekday] ?? ('mon' as const), ...toFiguresBody(figures) }],
        ),
        by_hour: found.byHour.flatMap((figures, hour) =>
          figures.runs === 0 ? [] : [{ hour, ...toFiguresBody(figures) }],
        ),
      };
      return {
        body,
        freshness: freshFrom(now(), FRESHNESS_WINDOWS.timetable),
        notices: found.total.runs === 0 ? [NOTHING] : [],
      };
    },
  });
