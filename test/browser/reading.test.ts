import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium } from '../support/chromium.ts';
import { type Front, startFront } from '../support/front.ts';
import { countWords, MAX_WORDS, READING } from '../support/reading.ts';

let browser: Browser;
let front: Front;

beforeAll(async () => {
  browser = await launchChromium();
  front = await startFront({ now: '2026-11-20T02:00:20Z' });
});

afterAll(async () => {
  await browser?.close();
  await front?.[Symbol.asyncDispose]();
});

it('a caller reads at most 2,000 visible words for the first task and 6,000 for three, with the reference of each operation', async () => {
  const page = await browser.newPage();
  const words: number[] = [];
  for (const paths of Object.values(READING)) {
    let ofTask = 0;
    for (const path of paths) ofTask += (await countWords(page, front.url + path)).visible;
    words.push(ofTask);
  }
  expect(words[0]).toBeLessThanOrEqual(MAX_WORDS.firstTask);
  expect(words.reduce((sum, one) => sum + one)).toBeLessThanOrEqual(MAX_WORDS.threeTasks);
  await page.close();
});
