import { expect, it } from 'vitest';
import { openJourneys } from '#src/server/open-journeys.ts';
import { Preparations } from '#src/server/preparations.ts';
import type { StopRegister } from '#src/stops/register.ts';
import { currentOf, ONE_BUS, timetableOf } from '#test/support/timetable.ts';

it('the service is not ready until the threads of the timetable that it starts with can plan', async () => {
  const timetable = currentOf(timetableOf(ONE_BUS));
  const preparations = new Preparations();
  const planning = openJourneys({
    preparations,
    mode: 'auto',
    timetable: { ...timetable, status: () => ({ ...timetable.status(), mode: 'on' }) },
    feeds: null,
    stops: {} as StopRegister,
    listAlerts: () => [],
    listLiftsOut: () => [],
    isScarce: () => false,
    log: { warn() {}, error() {} },
    record() {},
    compared() {},
  });
  expect(preparations.missing()).toBe('journeys cannot be planned yet');
  await expect.poll(() => preparations.missing(), { timeout: 30_000 }).toBeNull();
  await planning.close();
});
