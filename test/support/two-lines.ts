import { StopRegister } from '#src/stops/register.ts';
import { noStops } from '#src/stops/table.ts';
import { datesFrom, scheduleFile } from './schedule-file.ts';
import { currentOf, timetableOf } from './timetable.ts';

const NAMES = {
  200060: 'Central Station',
  200070: 'Town Hall Station',
  200020: 'Circular Quay',
  209573: 'Manly Wharf',
};

/** The stops of a timetable with the lines of the examples, T1 and F1, each with one run a day. */
export function stopsOfTwoLines(): StopRegister {
  const days = datesFrom('20260101', '20361231');
  const ends = (
    id: 'T1' | 'F1',
    mode: 'train' | 'ferry',
    [from, to]: readonly [keyof typeof NAMES, keyof typeof NAMES],
  ) =>
    scheduleFile(mode === 'train' ? 'sydneytrains' : 'sydneyferries', {
      stops: [from, to].map((stop) => ({ id: String(stop), name: NAMES[stop] })),
      routes: [{ id, mode, lineName: id }],
      trips: [
        {
          id: `${id}.1`,
          route: id,
          days,
          calls: [
            [String(from), '08:40'],
            [String(to), '09:10'],
          ],
        },
      ],
    });
  const timetable = timetableOf(ends('T1', 'train', [200060, 200070]), ends('F1', 'ferry', [200020, 209573]));
  return new StopRegister(noStops, { timetable: currentOf(timetable) });
}
