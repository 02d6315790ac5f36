/** Prints how many words a caller reads for three tasks, page by page: visible without unfolding, and served. */
import { launchChromium } from '#test/support/chromium.ts';
import { startFront } from '#test/support/front.ts';
import { countWords, MAX_WORDS, READING } from '#test/support/reading.ts';

const print = (line: string) => process.stdout.write(`${line}\n`);
await using front = await startFront({ now: '2026-11-20T02:00:20Z' });
const browser = await launchChromium();
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
const sum = { visible: 0, served: 0 };
print('visible served');
for (const [task, paths] of Object.entries(READING)) {
  for (const path of paths) {
    const { visible, served } = await countWords(page, front.url + path);
    sum.visible += visible;
    sum.served += served;
    print(`${String(visible).padStart(7)} ${String(served).padStart(6)} ${path}`);
  }
  print(`${String(sum.visible).padStart(7)} ${String(sum.served).padStart(6)} until the end of: ${task}`);
}
print(`goals: ${MAX_WORDS.firstTask} visible words for the first task, ${MAX_WORDS.threeTasks} for three`);
await browser.close();
