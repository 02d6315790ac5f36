import { describe, expect, it } from 'vitest';
import { toVehicleAccessBody } from '#src/transit/additional-fields.ts';
import { packAccess, unpackAccess } from '#src/transit/vehicle-access.ts';

describe('what riders may bring on a vehicle', () => {
  it.each([
    ['', '', null, null],
    ['0', '0', null, null],
    ['1', '2', true, false],
    ['2', '1', false, true],
    ['', '1', null, true],
    ['2', '9', false, null],
  ])(
    'wheelchair_accessible %j and bikes_allowed %j of a schedule file are kept',
    (wheelchair, bike, wheelchairs, bikes) => {
      const access = unpackAccess(packAccess(wheelchair, bike));
      expect(access).toEqual({ wheelchairs, bikes });
      expect(toVehicleAccessBody(access, ['access'])).toEqual({
        vehicle_accessible: wheelchairs,
        bikes_allowed: bikes,
      });
      expect(toVehicleAccessBody(access, undefined)).toEqual({});
    },
  );
});
