import { describe, expect, it } from 'vitest';
import { MODES } from '#src/transit/mode.ts';
import { drawLineStyles } from '#web/line-styles.ts';

const RULES = [
  ...drawLineStyles().matchAll(
    /^\.(\w+)(?:\[data-line="(\w+)"\])? \{\n {2}--line-colour: (#\w{6});\n {2}--on-line: (#\w{6});\n\}/gm,
  ),
].map(([, mode = '', line = '', colour = '', text = '']) => ({ mode, line, colour, text }));

function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5]
    .map((start) => Number.parseInt(colour.slice(start, start + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

describe('the colours of lines and modes', () => {
  it.each(RULES)('the badge of $mode $line has text with the contrast of WCAG AA', ({ colour, text }) => {
    const [light, dark] = [luminance(colour), luminance(text)].sort((a, b) => b - a) as [number, number];
    expect((light + 0.05) / (dark + 0.05)).toBeGreaterThanOrEqual(4.5);
  });

  it('every mode and a walk have a colour', () => {
    const modes = RULES.filter(({ line }) => line === '').map(({ mode }) => mode);
    expect(modes.toSorted()).toEqual([...MODES, 'walk'].toSorted());
  });

  it('upstream’s lines have their own colours', () => {
    const lines = RULES.map(({ line }) => line);
    for (const line of ['T1', 'T2', 'T3', 'T4', 'T5', 'T6', 'T7', 'T8', 'T9', 'M1', 'CCN'])
      expect(lines).toContain(line);
    for (const line of ['L1', 'L2', 'L3', 'L4', 'F1', 'F4', 'F9']) expect(lines).toContain(line);
  });
});
