/*
 * Takes docs/screenshot.jpg, the map with a board, from a running service: `npm start`, then
 *
 * `npx node scripts/screenshot.ts http://localhost:3000 docs/screenshot.jpg`
 */
import { launchChromium } from '#test/support/chromium.ts';

const [address = 'http://localhost:3000', file = 'docs/screenshot.jpg'] = process.argv.slice(2);
const browser = await launchChromium();
const page = await browser.newPage({ viewport: { width: 1100, height: 620 } });
await page.goto(`${address}/explore#board=200070&modes=train,lightrail,bus&at=-33.8731,151.2069,16`);
await page.getByRole('heading', { name: 'Town Hall Station' }).waitFor();
await page.waitForLoadState('networkidle');
await page.screenshot({ path: file, type: 'jpeg', quality: 72 });
await browser.close();
