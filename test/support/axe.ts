import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * The rules of axe that the page violates, or this part of it, with the elements. Dark mode changes only colours. Comparing
 * colours takes as long as all other rules together.
 */
export async function findViolations(
  page: Page,
  { part = 'document', colours = 'too' as 'too' | 'only' | 'not' } = {},
): Promise<readonly string[]> {
  if (!(await page.evaluate('Boolean(globalThis.axe)'))) await loadAxe(page);
  const options = {
    resultTypes: ['violations'],
    selectors: false,
    ...(colours === 'only' && { runOnly: ['color-contrast'] }),
    ...(colours === 'not' && { rules: { 'color-contrast': { enabled: false } } }),
  };
  return page.evaluate(`axe.run(${part}, ${JSON.stringify(options)}).then(({ violations }) =>
    violations
      .map(({ id, nodes }) => id + ': ' + nodes.map((node) => node.html.slice(0, 160) + ' ' + (node.any[0]?.message ?? '')).join(' | ')))`);
}

/** The page's policy forbids foreign script tags. Chromium compiles a script anew for `page.evaluate`, and only once for this. */
async function loadAxe(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Runtime.evaluate', { expression: AXE });
  await session.detach();
}
