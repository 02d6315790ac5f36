import type { Page } from 'playwright-core';

/** What a caller reads for three tasks in turn, from the overview on. A page that was read for one is not read again. */
export const READING = {
  'departures around the user': ['/docs', '/docs/quickstart', '/docs/departures-nearby', '/docs/reference/boards'],
  'a journey to follow': ['/docs/follow', '/docs/reference/trips', '/docs/reference/trips-journey_id'],
  'a map with vehicles': ['/docs/maps', '/docs/browsers', '/docs/reference/vehicles'],
} as const;

/** The words of the first task, and of all three, that a caller may have to read. */
export const MAX_WORDS = { firstTask: 2000, threeTasks: 6000 };

/**
 * Counts the words of a page's article in a browser, code and examples included, without the site's header and navigation.
 * `visible`: without unfolding anything and in the first language of each sample; `served`: folded text and all languages too.
 */
export async function countWords(page: Page, url: string): Promise<{ visible: number; served: number }> {
  await page.goto(url);
  // In the browser, `innerText` has only what is rendered.
  const [visible, served] = (await page.evaluate(
    `['innerText', 'textContent'].map((name) => document.querySelector('article')[name])`,
  )) as [string, string];
  return { visible: wordsIn(visible), served: wordsIn(served) };
}

function wordsIn(text: string): number {
  return text.split(/\s+/).filter(Boolean).length;
}
