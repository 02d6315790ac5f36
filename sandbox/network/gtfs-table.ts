import { readFileSync } from 'node:fs';
import Papa from 'papaparse';
import { z } from 'zod';

/*
 * The columns of each GTFS file that the sandbox reads, by their names in the GTFS reference. Columns and files with the prefix
 * `efa_` are not GTFS: they contain data that only upstream's trip planner has.
 */

const text = z.string().min(1);
/** A column that GTFS does not require; empty if it is missing. */
const optional = z.string().default('');
/** A column of the sandbox; it must exist but can be empty. */
const sandboxColumn = z.string();
const number = z
  .string()
  .regex(/^-?\d+(\.\d+)?$/, 'expected a number')
  .transform(Number);
const flag = z.enum(['0', '1']).transform((value) => value === '1');

/** Seconds since the start of the service day, from `HH:MM:SS`, which may pass 24:00:00. */
const clock = z
  .string()
  .regex(/^\d{1,2}:\d\d:\d\d$/, 'expected HH:MM:SS')
  .transform((value) => {
    const [hours = 0, minutes = 0, seconds = 0] = value.split(':').map(Number);
    return hours * 3600 + minutes * 60 + seconds;
  });

/** Days since 1970-01-01, from `YYYYMMDD`. */
const day = z
  .string()
  .regex(/^\d{8}$/, 'expected YYYYMMDD')
  .transform((value) => Date.UTC(+value.slice(0, 4), +value.slice(4, 6) - 1, +value.slice(6)) / 86_400_000);

const ROWS = {
  'agency.txt': z.object({ agency_id: text, agency_name: text }),
  'stops.txt': z.object({
    stop_id: text,
    stop_name: text,
    stop_lat: number,
    stop_lon: number,
    /** "1" for a stop with points, "0" for a point of a stop. */
    location_type: z.enum(['0', '1']),
    parent_station: optional,
    wheelchair_boarding: optional,
    efa_locality: sandboxColumn,
    efa_stop_id: sandboxColumn,
    efa_platform: sandboxColumn,
  }),
  'routes.txt': z.object({
    route_id: text,
    agency_id: text,
    route_short_name: optional,
    route_long_name: optional,
    route_desc: text,
    efa_product_id: text,
    efa_monitored: flag,
  }),
  'trips.txt': z.object({
    route_id: text,
    service_id: text,
    trip_id: text,
    trip_headsign: text,
    direction_id: z.enum(['', '0', '1']).default(''),
    shape_id: optional,
    /** "1" for vehicles that take wheelchairs, "2" for others; "0" or empty if unknown. */
    wheelchair_accessible: z.enum(['', '0', '1', '2']).default(''),
  }),
  'stop_times.txt': z.object({ trip_id: text, departure_time: clock, stop_id: text, stop_sequence: number }),
  'frequencies.txt': z.object({ trip_id: text, start_time: clock, end_time: clock, headway_secs: number }),
  'calendar.txt': z.object({
    service_id: text,
    monday: flag,
    tuesday: flag,
    wednesday: flag,
    thursday: flag,
    friday: flag,
    saturday: flag,
    sunday: flag,
    start_date: day,
    end_date: day,
  }),
  'shapes.txt': z.object({
    shape_id: text,
    shape_pt_lat: number,
    shape_pt_lon: number,
    shape_pt_sequence: number,
  }),
  'efa_products.txt': z.object({ product_id: text, product_class: number, product_name: text }),
  'efa_places.txt': z.object({
    place_id: text,
    place_name: text,
    place_locality: text,
    place_type: z.enum(['street', 'poi', 'suburb', 'locality']),
    place_lat: number,
    place_lon: number,
  }),
};

/** A row of a file: the columns above. */
export type Row<File extends keyof typeof ROWS> = z.output<(typeof ROWS)[File]>;

/**
 * Reads the rows of one file of a GTFS folder. Columns without a schema are ignored. For a bad row, throws an error with file
 * and line.
 */
export function loadTable<File extends keyof typeof ROWS>(folder: URL, file: File): Row<File>[] {
  const text = readFileSync(new URL(file, folder), 'utf8');
  const { data, errors } = Papa.parse(text, { header: true, delimiter: ',', skipEmptyLines: true });
  // Line 1 is the header.
  const lineOf = (index: number) => `${file}, line ${index + 2}`;
  for (const { row: index = 0, message } of errors) throw new Error(`${lineOf(index)}: ${message}`);
  return data.map((record, index) => {
    const read = ROWS[file].safeParse(record);
    if (!read.success) throw new Error(`${lineOf(index)}: ${z.prettifyError(read.error)}`);
    return read.data as Row<File>;
  });
}
