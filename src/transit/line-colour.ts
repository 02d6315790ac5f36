import { z } from 'zod';
import type { Mode } from './mode.ts';
import { COLOURS_OF_LINES, REGIONAL_TRAIN } from './region.ts';
import { field } from './schema.ts';

/** The colours of modes and of walks. */
export const COLOURS_OF_MODES: Readonly<Record<Mode | 'walk', string>> = {
  train: 'A85300',
  metro: '0F7378',
  lightrail: 'C6202C',
  bus: '006A99',
  ferry: '2E7623',
  coach: '732A82',
  schoolbus: '7A5B00',
  walk: '5F6B72',
};
const [BLACK, WHITE] = ['000000', 'FFFFFF'];

const HEX = /^[0-9A-F]{6}$/;
const COLOR =
  'The colour of the line, else of its mode, as six hexadecimal digits without `#` (as in GTFS). Only with `include=colors`';
const TEXT_COLOR = 'The text colour for `color`: black or white. Only with `include=colors`';
const color = field(z.string().regex(HEX).optional(), COLOR, 'F99D1C');
const textColor = field(z.string().regex(HEX).optional(), TEXT_COLOR, BLACK);

/** For a record with a line. */
export const colorFields = { color, text_color: textColor };
/** For a record that always has colours. */
export const lineColorFields = {
  color: field(color.unwrap(), 'The colour of the line, or of its mode, as in GTFS', 'F99D1C'),
  text_color: field(textColor.unwrap(), 'The text colour for it: black or white', BLACK),
};
/** For a record that may be a walk. */
export const legColorFields = {
  color: field(color.unwrap().nullable().optional(), `${COLOR}; null on a walk`, 'F99D1C'),
  text_color: field(textColor.unwrap().nullable().optional(), `${TEXT_COLOR}; null on a walk`, BLACK),
};

/** The colour of a line, and the text colour (black or white) with more contrast. */
export function colorsOf(mode: Mode | 'walk', route: string | null = null) {
  const ofLines = mode === 'walk' ? undefined : COLOURS_OF_LINES[mode];
  const hasOwn = ofLines && route !== null && Object.hasOwn(ofLines, route);
  const isRegional = mode === 'train' && route !== null && REGIONAL_TRAIN.name.test(route);
  const background = hasOwn ? (ofLines[route] as string) : isRegional ? REGIONAL_TRAIN.colour : COLOURS_OF_MODES[mode];
  return { color: background, text_color: luminance(background) > HALFWAY ? BLACK : WHITE };
}

/** Whether the line with this short name has its own colour, unlike bus numbers. */
export function isNamedLine(route: string): boolean {
  return Object.values(COLOURS_OF_LINES).some((lines) => Object.hasOwn(lines, route));
}

/** The luminance at which black and white have equal contrast. */
const HALFWAY = Math.sqrt(1.05 * 0.05) - 0.05;

/** Relative luminance as defined by WCAG. */
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [0, 2, 4]
    .map((start) => Number.parseInt(hex.slice(start, start + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
