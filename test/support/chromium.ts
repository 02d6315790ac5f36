import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { ensureProgram } from './debian.ts';

const CANDIDATES = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Stops the browser's own requests to its maker, which a test must not make. */
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export async function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: findChromium(), args: QUIET });
}

/** The browser of this machine. On Debian as root it is installed if missing. */
export function findChromium(): string {
  const found = () => CANDIDATES.find((path) => path && existsSync(path));
  if (!found()) ensureProgram('chromium', 'chromium', 'Elsewhere: set CHROMIUM_PATH to Chrome or Chromium.');
  return found() ?? 'chromium';
}

export interface Watched {
  context: BrowserContext;
  page: Page;
  /** Messages that a person would see in the console, and every request to a host other than the page's. */
  complaints: string[];
}

/** A fresh browser window that records what must not happen. */
export async function openWindow(
  browser: Browser,
  options: { width?: number; height?: number; hosts: string[]; scheme?: 'light' | 'dark' },
): Promise<Watched> {
  const { width = 1280, height = 800, hosts, scheme = 'light' } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (/^(https?|wss?):$/.test(protocol) && !hosts.includes(host)) complaints.push(`request to ${host}`);
  });
  return { context, page, complaints };
}
