/** The sandbox's network put together. What is fact in it and what is made up: see `rows.ts`. */
import type { SandboxLine, SandboxNetwork, SandboxStop } from '../network.ts';
import { CANBERRA_LINES, CANBERRA_STOPS } from './canberra.ts';
import { HARBOUR_LINES, HARBOUR_STOPS } from './harbour.ts';
import { INTERCHANGE_STOPS } from './interchanges.ts';
import { layTracks } from './lay-tracks.ts';
import { MERIMBULA_LINES, MERIMBULA_STOPS } from './merimbula.ts';
import { NEWCASTLE_LINES, NEWCASTLE_STOPS } from './newcastle.ts';
import { PLACES } from './places.ts';
import { SCHOOL_LINES, SCHOOL_STOPS } from './school.ts';
import { SYDNEY_BUS_LINES, SYDNEY_BUS_STOPS } from './sydney-bus.ts';
import { SYDNEY_LIGHT_RAIL_LINES, SYDNEY_LIGHT_RAIL_STOPS } from './sydney-light-rail.ts';
import { SYDNEY_METRO_LINES, SYDNEY_METRO_STOPS } from './sydney-metro.ts';
import { SYDNEY_RAIL_LINES, SYDNEY_RAIL_STOPS } from './sydney-rail.ts';
import { TRACKS } from './tracks.ts';

const STOPS: readonly SandboxStop[] = [
  ...INTERCHANGE_STOPS,
  ...SYDNEY_RAIL_STOPS,
  ...SYDNEY_METRO_STOPS,
  ...SYDNEY_LIGHT_RAIL_STOPS,
  ...HARBOUR_STOPS,
  ...SYDNEY_BUS_STOPS,
  ...SCHOOL_STOPS,
  ...NEWCASTLE_STOPS,
  ...CANBERRA_STOPS,
  ...MERIMBULA_STOPS,
];

const LINES: readonly SandboxLine[] = [
  ...SYDNEY_RAIL_LINES,
  ...SYDNEY_METRO_LINES,
  ...SYDNEY_LIGHT_RAIL_LINES,
  ...HARBOUR_LINES,
  ...SYDNEY_BUS_LINES,
  ...SCHOOL_LINES,
  ...NEWCASTLE_LINES,
  ...CANBERRA_LINES,
  ...MERIMBULA_LINES,
];

export const SANDBOX_NETWORK: SandboxNetwork = { stops: STOPS, lines: layTracks(LINES, STOPS, TRACKS), places: PLACES };
