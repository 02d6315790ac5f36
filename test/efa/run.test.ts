import { describe, expect, it } from 'vitest';
import { parseStopEvent, type StopEvent } from '#src/efa/payload.ts';
import { isWheelchairAccessible, toRunId } from '#src/efa/response/run.ts';

const eventOf = (properties: object, run: object = {}) =>
  parseStopEvent({ properties, transportation: { properties: run } }) as StopEvent;
const runIdOf = (properties: object, run: object = {}) => {
  const event = eventOf(properties, run);
  return toRunId(event.properties, event.transportation.properties);
};

describe('the ID of a run', () => {
  it.each<[what: string, event: object, line: object, runId: string | null]>([
    ['is the realtime one', { RealtimeTripId: '26-S.2005.100', AVMSTripID: '26-S' }, {}, '26-S.2005.100'],
    ['is that of the vehicle system on an extra run', { AVMSTripID: '49177-12508-R:X' }, {}, '49177-12508-R:X'],
    ['comes from the line in journeys', {}, { RealtimeTripId: 'MFF.VJ1198' }, 'MFF.VJ1198'],
    ['is the realtime one wherever it is', { AVMSTripID: 'a' }, { RealtimeTripId: 'b' }, 'b'],
    ['is trimmed', { RealtimeTripId: ' 2532538 ' }, {}, '2532538'],
    ['may be a number', { RealtimeTripId: 2532538 }, {}, '2532538'],
    ['is never blank', { RealtimeTripId: ' ', AVMSTripID: '' }, { AVMSTripID: 'c' }, 'c'],
    ['is null when it is excessively long', { RealtimeTripId: 'x'.repeat(1001) }, {}, null],
    ['is never the code that extra runs share', {}, { tripCode: 65532 }, null],
  ])('the ID of a run %s', (_what, event, line, runId) => {
    expect(runIdOf(event, line)).toBe(runId);
  });
});

describe('wheelchair access', () => {
  const stopYes = { WheelchairAccess: 'true' };
  const stopNo = { WheelchairAccess: 'false' };
  it.each<[what: string, event: object, line: object, isAccessible: boolean]>([
    ['a low-floor vehicle at a stop with steps', { ...stopNo, AVMLowFloorVeh: '1' }, {}, true],
    ['a high-floor vehicle at a stop without steps', { ...stopYes, AVMLowFloorVeh: '0' }, {}, false],
    ['a planned accessible vehicle', { ...stopNo, PlanWheelChairAccess: '1' }, {}, true],
    ['a planned inaccessible vehicle', { ...stopYes, PlanWheelChairAccess: '0' }, {}, false],
    ['a plan given with the line', stopNo, { PlanWheelChairAccess: '1' }, true],
    ['a plan without access given with the line', stopYes, { PlanWheelChairAccess: '0' }, false],
    ['the attribute of a low-floor vehicle', stopNo, { attributes: ['AVM_LOWFLOORVEHICLE'] }, true],
    ['the attribute of a plan', stopNo, { attributes: ['PLAN_WHEELCHAIRACCESS', 'BIKE'] }, true],
    ['an attribute outside a list', stopNo, { attributes: 'PLAN_WHEELCHAIRACCESS' }, true],
    ['the vehicle rather than the plan', { AVMLowFloorVeh: '0', PlanWheelChairAccess: '1' }, {}, false],
    [
      'the vehicle rather than the attribute of a plan',
      { AVMLowFloorVeh: '0' },
      { attributes: ['PLAN_WHEELCHAIRACCESS'] },
      false,
    ],
    [
      'the attribute of the vehicle rather than the plan',
      { PlanWheelChairAccess: '0' },
      { attributes: ['AVM_LOWFLOORVEHICLE'] },
      true,
    ],
    ['the stop when attributes are unrelated', stopYes, { attributes: ['BIKE'] }, true],
    ['a stop without steps when the vehicle is unknown', stopYes, {}, true],
    ['a stop with steps when the vehicle is unknown', stopNo, {}, false],
    ['the stop when the value is invalid', { ...stopYes, AVMLowFloorVeh: 'maybe' }, {}, true],
    ['the default when nothing is known', {}, {}, false],
  ])('wheelchair access is decided by %s', (_what, event, line, isAccessible) => {
    expect(isWheelchairAccessible(eventOf(event, line), () => false)).toBe(isAccessible);
  });

  it('wheelchair access does not follow the stop when a notice says that some vehicles of the line are not accessible', () => {
    expect(isWheelchairAccessible(eventOf(stopYes), () => true)).toBe(false);
    expect(isWheelchairAccessible(eventOf({ ...stopYes, AVMLowFloorVeh: '1' }), () => true)).toBe(true);
  });
});
