import { z } from 'zod';
import type { LineCatalogue } from '../../lines/lines.ts';
import { routeOf } from '../../routes.ts';
import { freshnessOfList, type StopRegister } from '../../stops/register.ts';
import { modesParameter } from '../../transit/mode.ts';
import { limitParameter, optional, totalField, withDefault } from '../../transit/parameter.ts';
import { boundsParameter, middleOf, outsideNotice, stopIdParameter } from '../../transit/place.ts';
import { list, record } from '../../transit/schema.ts';
import { defineOperation } from '../operation.ts';
import { searchText } from '../stop-search/query.ts';
import { lineFields, toLineBody } from './line.ts';

/** Maximum size of the window in degrees: about 55 by 46 kilometres. */
const MAX_DEGREES = 0.5;

const linesQuery = z.object({
  q: optional(
    searchText('a part of a line’s name'),
    'Short name, or words of the name, operator or mode. Lines with this short name come first, then those whose short name begins with it.',
    '333',
  ),
  modes: withDefault(modesParameter, 'all'),
  stop: optional(stopIdParameter, 'Only lines that call at this stop, at any time within the timetable.', '200070'),
  bbox: optional(
    boundsParameter(MAX_DEGREES),
    `Only lines with a stop in this map area: \`south,west,north,east\`, at most ${MAX_DEGREES} degrees each way.`,
    '-33.88,151.2,-33.86,151.22',
  ),
  limit: limitParameter(1000, '100', 'lines'),
});

const listedLineSchema = record('ListedLine', 'A line.', lineFields);

const linesResponse = record('Lines', 'Lines of the timetable.', {
  lines: list(listedLineSchema, 'Best match first, then by mode and short name'),
  total: totalField('lines that match', 1),
});

const exampleBody: z.infer<typeof linesResponse> = {
  lines: [
    {
      line_id: 'train_T1',
      route: 'T1',
      name: 'T1 North Shore & Western Line',
      mode: 'train',
      operator: 'Sydney Trains',
      color: 'F99D1C',
      text_color: '000000',
    },
  ],
  total: 1,
};

/** `GET /v1/lines` */
export const createLinesOperation = ({ lines, stops }: { lines: LineCatalogue; stops: StopRegister }) =>
  defineOperation({
    ...routeOf('listLines'),
    tag: 'Stops',
    summary: 'Lines',
    description:
      'Lines of the timetable by name, mode, stop or map area; all conditions must hold. Fresh for a day. The `line_id` stays the same when the timetable is renewed. Local lines of Canberra are not in the timetable.',
    query: linesQuery,
    body: linesResponse,
    example: { query: 'q=T1&stop=200070', body: exampleBody },
    tool: {
      description:
        'Finds lines by short name or words of their name, by mode, stop or map area. For the stops of a line use getLine, for its times getLineTimetable.',
      defaults: { limit: '20' },
    },

    async handle(query, { now }) {
      const matches = lines.list(query);
      const { bbox, stop } = query;
      const outside = matches.length === 0 && bbox ? outsideNotice(...middleOf(bbox)) : null;
      const isUnknown = stop !== undefined && stops.partsOf(stop).length === 0;
      const notice = isUnknown ? `The timetable does not have stop ${stop}, so its lines are unknown.` : outside;
      return {
        body: { lines: matches.slice(0, query.limit).map(toLineBody), total: matches.length },
        freshness: freshnessOfList(stops, now()),
        ...(notice && { notices: [{ text: notice }] }),
      };
    },
  });
