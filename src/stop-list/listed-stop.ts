import { z } from 'zod';
import { DAY_MS } from '../clock.ts';
import type { StopRegister } from '../stops/register.ts';
import { nameWithSuburb, type StopRecord } from '../stops/table.ts';
import type { Freshness } from '../transit/freshness.ts';
import { modeSchema } from '../transit/mode.ts';
import { latitudeSchema, longitudeSchema } from '../transit/place.ts';

/** A caller looks for a newer list after so long. */
const FRESH_MS = DAY_MS;
const STALE_MS = 7 * DAY_MS;

export const listedStopSchema = z
  .strictObject({
    stop_id: z.string().meta({ description: 'Stop identifier', example: '200060' }),
    name: z
      .string()
      .meta({ description: 'Stop name, with its suburb where that is known', example: 'Central Station, Sydney' }),
    suburb: z.string().meta({ description: 'Suburb or locality; empty if unknown', example: 'Sydney' }),
    lat: latitudeSchema,
    lng: longitudeSchema,
    modes: z.array(modeSchema).meta({ description: 'The modes that stop there, as far as they are known' }),
    parent_stop_id: z.string().nullable().meta({
      description: 'The stop that a platform belongs to; null if there is none or none is known',
      example: null,
    }),
  })
  .meta({ id: 'ListedStop', description: 'A stop of the list that the service keeps.' });

type ListedStop = z.infer<typeof listedStopSchema>;

export function toListedStop({ stop_id, name, suburb, lat, lng, modes, parent_id }: StopRecord): ListedStop {
  return {
    stop_id,
    name: nameWithSuburb({ name, suburb }),
    suburb,
    lat,
    lng,
    modes: [...modes],
    parent_stop_id: parent_id,
  };
}

/** The freshness of what the list says: as old as its data, and looked up again after a day. */
export function freshnessOfList({ dataDate }: Pick<StopRegister, 'dataDate'>, now: Date): Freshness {
  const freshUntil = now.getTime() + FRESH_MS;
  return {
    retrievedAt: Math.min(Date.parse(dataDate), now.getTime()),
    freshUntil,
    staleUntil: freshUntil + STALE_MS,
    source: 'cache',
    shortage: null,
  };
}
