import { COLOURS_OF_MODES, colorsOf } from '#src/transit/line-colour.ts';
import type { Mode } from '#src/transit/mode.ts';
import { COLOURS_OF_LINES } from '#src/transit/region.ts';

/** The stylesheet for line badges and map lines. */
export function drawLineStyles(): string {
  const rule = (selector: string, mode: Mode | 'walk', route?: string) => {
    const { color, text_color } = colorsOf(mode, route);
    return `${selector} {\n  --line-colour: #${color};\n  --on-line: #${text_color};\n}\n`;
  };
  const modes = Object.keys(COLOURS_OF_MODES) as (Mode | 'walk')[];
  const lines = Object.entries(COLOURS_OF_LINES) as [Mode, Record<string, string>][];
  return [
    ...modes.map((mode) => rule(`.${mode}`, mode)),
    ...lines.flatMap(([mode, routes]) =>
      Object.keys(routes).map((route) => rule(`.${mode}[data-line="${route}"]`, mode, route)),
    ),
  ].join('\n');
}
