import { Uint8Column } from '../../core/columns.ts';
import { toDayNumber, weekdayOf } from '../service-day.ts';
import type { LeftOutCounter } from './left-out.ts';
import type { CsvColumns, CsvRow } from './rows.ts';
import type { ScheduleService } from './schedule-file.ts';
import { UnreadableFile } from './schedule-file.ts';
import type { ScheduleZip } from './zip.ts';

export const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
/** The longest period of a calendar: twenty years. Upstream's longest has 13 months. */
const MAX_DAYS = 7305;
/** The limit of services. It is high because some of upstream's files have one calendar per trip. */
const MAX_SERVICES = 500_000;

interface Calendar {
  weekdays: number;
  from: number;
  until: number;
  added: number[];
  removed: number[];
}

/** The services of calendar.txt and calendar_dates.txt. Equal ones are merged. */
export interface Services {
  services: ScheduleService[];
  /** Index by id; services without days have none. */
  indexes: ReadonlyMap<string, number>;
}

/** Reads both files. Either may be missing or have only a header. */
export async function loadServices(zip: ScheduleZip, leftOut: LeftOutCounter): Promise<Services> {
  if (!zip.has('calendar.txt') && !zip.has('calendar_dates.txt')) {
    throw new UnreadableFile('neither calendar.txt nor calendar_dates.txt');
  }
  const calendars = new Map<string, Calendar>();
  const calendarOf = (id: string) => {
    const calendar = calendars.get(id) ?? { weekdays: 0, from: 1, until: 0, added: [], removed: [] };
    calendars.set(id, calendar);
    if (calendars.size > MAX_SERVICES)
      throw new UnreadableFile(`the calendars have more than ${MAX_SERVICES} services`);
    return calendar;
  };
  const calendar = {
    name: 'calendar.txt',
    required: ['service_id', ...WEEKDAYS, 'start_date', 'end_date'],
    optional: [],
  } as const;
  await zip.loadRows(calendar, (row, at) => {
    const [from, until] = [toDayNumber(row.text(at.start_date)), toDayNumber(row.text(at.end_date))];
    if (from === null || until === null || until - from > MAX_DAYS) return leftOut.add('calendar without valid dates');
    Object.assign(calendarOf(row.text(at.service_id)), { weekdays: parseWeekdays(row, at), from, until });
  });
  const dates = {
    name: 'calendar_dates.txt',
    required: ['service_id', 'date', 'exception_type'],
    optional: [],
  } as const;
  await zip.loadRows(dates, (row, at) => {
    const [day, type] = [toDayNumber(row.text(at.date)), row.text(at.exception_type)];
    if (day === null || (type !== '1' && type !== '2')) return leftOut.add('calendar date that cannot be read');
    const { added, removed } = calendarOf(row.text(at.service_id));
    (type === '1' ? added : removed).push(day);
  });
  return merge(calendars, leftOut);
}

/** Bit 0 is Monday. */
export function parseWeekdays(row: CsvRow, at: CsvColumns<(typeof WEEKDAYS)[number]>): number {
  return WEEKDAYS.reduce((bits, weekday, index) => bits | (row.text(at[weekday]) === '1' ? 1 << index : 0), 0);
}

function merge(calendars: ReadonlyMap<string, Calendar>, leftOut: LeftOutCounter): Services {
  const services: ScheduleService[] = [];
  const indexes = new Map<string, number>();
  const indexByDays = new Map<string, number>();
  for (const [id, calendar] of calendars) {
    const service = toService(calendar);
    if (!service) {
      leftOut.add('service without days');
      continue;
    }
    const content = `${service.firstDay} ${Buffer.from(service.days).toString('latin1')}`;
    const index = indexByDays.get(content) ?? services.push(service) - 1;
    indexByDays.set(content, index);
    indexes.set(id, index);
  }
  return { services, indexes };
}

/** Null if it has no days, or days implausibly far apart. */
function toService({ weekdays, from, until, added, removed }: Calendar): ScheduleService | null {
  const days = new Set(added);
  for (let day = from; day <= until; day++) if (weekdays & (1 << weekdayOf(day))) days.add(day);
  for (const day of removed) days.delete(day);
  let [firstDay, lastDay] = [Infinity, -Infinity];
  for (const day of days) [firstDay, lastDay] = [Math.min(firstDay, day), Math.max(lastDay, day)];
  if (days.size === 0 || lastDay - firstDay > MAX_DAYS) return null;
  const bits = new Uint8Column(((lastDay - firstDay) >> 3) + 1);
  for (const day of days) {
    const index = day - firstDay;
    bits[index >> 3] = bits.valueAt(index >> 3) | (1 << (index & 7));
  }
  return { firstDay, days: bits };
}
