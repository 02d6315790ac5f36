import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { ensureProgram } from './debian.ts';

/** Chromium without windows opens a page in half the processor time of the whole. */
const SHELL = '/usr/bin/chromium-headless-shell';
const OTHERS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** No page lives long enough to repay the optimizing compilers. */
const UNOPTIMIZED = '--js-flags=--no-opt --no-maglev';
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
  return chromium.launch({ executablePath: findChromium(), args: [...QUIET, UNOPTIMIZED] });
}

let chromiumPath: string | undefined;

/** The browser of this machine. On Debian as root the shell is installed if missing. */
export function findChromium(): string {
  chromiumPath ??= process.env.CHROMIUM_PATH ?? ensureChromium();
  return chromiumPath;
}

function ensureChromium(): string {
  try {
    ensureProgram(SHELL, 'chromium-headless-shell', 'Elsewhere: set CHROMIUM_PATH to Chrome or Chromium.');
  } catch (error) {
    const other = OTHERS.find((path) => existsSync(path));
    if (!other) throw error;
    return other;
  }
  return SHELL;
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
