import { copyableCode } from '../code-block.ts';
import { type Html, html } from '../html.ts';

/** The sandbox's key, ready for the shell; nothing where there is none. */
export function keyNotice(testKey: string | null): Html | null {
  if (!testKey) return null;
  return html`<p>This server is a sandbox, and everybody may use its key:</p>
${copyableCode(`export TIS_KEY=${testKey}`)}`;
}
