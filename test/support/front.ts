import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import PostalMime, { type Email } from 'postal-mime';
import { loadNetwork } from '#sandbox/network/gtfs-network.ts';
import { networkMap } from '#sandbox/network/network-map.ts';
import { type Sandbox, startSandbox } from '#sandbox/server.ts';
import { sandboxKey } from '#src/access/sandbox-key.ts';
import type { AccountStore } from '#src/access/store.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { monitorBoards } from '#src/boards/source.ts';
import { deadlinesFrom } from '#src/core/clock.ts';
import { createEfaClient } from '#src/efa/client.ts';
import { toMode } from '#src/efa/product-class.ts';
import type { IncidentStore } from '#src/extensions/telemetry/incidents.ts';
import {
  createInstruments,
  type Instruments,
  recordBoard,
  watchUpstream,
} from '#src/extensions/telemetry/instruments.ts';
import { Traffic, type UpstreamHealth } from '#src/extensions/telemetry/traffic.ts';
import type { NetworkOptions } from '#src/http/network-limit.ts';
import type { LiveReport } from '#src/realtime/live-report.ts';
import type { Vehicles } from '#src/realtime/vehicles.ts';
import type { StopRegister } from '#src/stops/register.ts';
import type { TimetableStatus } from '#src/timetable/update/keep-current.ts';
import { buildTestApp, type TestApp } from '#test/support/app.ts';
import { createMailer } from '#web/signup/mail/mailer.ts';
import type { MailLimits } from '#web/signup/throttle.ts';
import { freePort } from './free-port.ts';
import { stopsOfTwoLines } from './two-lines.ts';

/** Read once for all fronts. */
const NETWORK = loadNetwork();
const NETWORK_MAP = networkMap(NETWORK, (productClass) =>
  productClass < 5 || productClass === 9 ? toMode(productClass) : null,
);

export interface Front extends AsyncDisposable {
  app: TestApp;
  /** The address at which it listens, which is also its PUBLIC_URL. */
  url: string;
  store: AccountStore;
  testKey: string;
  /** The sandbox's key for pages. */
  publishableKey: string;
  clock: { now: Date };
  /** The raw files of the outbox, oldest first. */
  readOutboxFiles(): Promise<string[]>;
  /** Every mail of the outbox, oldest first. */
  readOutbox(): Promise<Email[]>;
}

/** The whole service with its pages, in front of the sandbox or another upstream, listening on a loopback port. */
export async function startFront(
  options: {
    now?: string;
    smtpUrl?: string;
    smtpTimeoutMs?: number;
    /** By default waits never end. */
    sleep?: (ms: number) => Promise<unknown>;
    instruments?: Instruments;
    mailLimits?: Partial<MailLimits>;
    /** For sign-up and the keys page; by default those of the service. */
    accounts?: AccountStore;
    upstreamUrl?: string;
    upstreamHealth?: () => UpstreamHealth;
    timetable?: () => TimetableStatus;
    live?: () => LiveReport;
    incidentStore?: IncidentStore;
    isSandbox?: boolean;
    stops?: StopRegister;
    vehicles?: Vehicles;
    /** Unlimited by default. */
    networkLimit?: NetworkOptions;
  } = {},
): Promise<Front> {
  const clock = { now: new Date(options.now ?? Date.now()) };
  const now = () => clock.now;
  const dataDir = await mkdtemp(join(tmpdir(), 'transit-front-'));
  const url = `http://localhost:${await freePort()}`;
  const sandbox: Sandbox | null = options.upstreamUrl
    ? null
    : await startSandbox({ apiKey: 'k', now, network: NETWORK });
  const traffic = new Traffic(() => now().getTime());
  const instruments = options.instruments ?? createInstruments();
  // On a busy machine the sandbox may be slow.
  const timeoutMs = options.upstreamUrl ? 5000 : 60_000;
  const client = createEfaClient({
    url: options.upstreamUrl ?? sandbox?.url ?? '',
    apiKey: 'k',
    timeoutMs,
    now: () => now().getTime(),
  });
  const store = openEmbeddedStore(':memory:');
  const testKey = await sandboxKey(store, dataDir, now().getTime());
  const publishableKey = await sandboxKey(store, dataDir, now().getTime(), 'pub');
  const app = await buildTestApp({
    publicUrl: url,
    upstream: watchUpstream(client.callUpstream, traffic, instruments),
    boards: { ...monitorBoards, count: (board) => recordBoard(board, traffic, instruments) },
    store,
    acceptsTestKeys: options.isSandbox ?? true,
    sendsKey: false,
    deadlines: deadlinesFrom(timeoutMs),
    ...(options.sleep && { sleep: options.sleep }),
    ...(options.instruments && { instruments: options.instruments }),
    stops: options.stops ?? stopsOfTwoLines(),
    ...(options.vehicles && { vehicles: options.vehicles }),
    ...(options.networkLimit && { networkLimit: options.networkLimit }),
    pages: {
      traffic,
      upstreamHealth: options.upstreamHealth,
      timetable: options.timetable,
      live: options.live,
      incidentStore: options.incidentStore,
      testKey: async () => testKey,
      publishableKey: async () => publishableKey,
      accounts: options.accounts ?? store,
      mailer: createMailer({
        smtpUrl: options.smtpUrl ?? null,
        smtpTimeoutMs: options.smtpTimeoutMs,
        mailFrom: 'Transit Information Service <keys@example.test>',
        dataDir,
        log: { warn: () => {} },
        now: Date.now,
      }),
      mailLimits: options.mailLimits,
      contact: 'mailto:contact@example.test',
      tileUrl: null,
      tileAttribution: '',
      networkMap: NETWORK_MAP,
    },
    now,
  });
  await app.listen({ host: 'localhost', port: Number(new URL(url).port) });

  async function readOutboxFiles() {
    const outbox = join(dataDir, 'outbox');
    const names = (await readdir(outbox).catch(() => [])).sort();
    return Promise.all(names.map((name) => readFile(join(outbox, name), 'utf8')));
  }

  return {
    app,
    url,
    store,
    testKey,
    publishableKey,
    clock,
    readOutboxFiles,
    async readOutbox() {
      return Promise.all((await readOutboxFiles()).map((file) => PostalMime.parse(file)));
    },
    async [Symbol.asyncDispose]() {
      await app.close();
      await client.close();
      await sandbox?.close();
      await store.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export function postForm(
  app: FastifyInstance,
  url: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
) {
  return app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams(fields).toString(),
  });
}

/** The key in a mail; throws if there is none. */
export function keyIn({ text = '' }: Email): string {
  const [key] = /\btis_(?:live|test|pub)_\w{41}\b/.exec(text) ?? [];
  if (!key) throw new Error(`no key in: ${text}`);
  return key;
}

/** The link to the page of keys in a mail; throws if there is none. */
export function linkIn({ text = '' }: Email): string {
  const [link] = /http:\S+\/keys\?token=\S+/.exec(text) ?? [];
  if (!link) throw new Error(`no link in: ${text}`);
  return link;
}

/** Uses the link of a mail, and returns the page of keys with the token of its forms. */
export async function openKeysPage(app: FastifyInstance, mail: Email) {
  const token = new URL(linkIn(mail)).searchParams.get('token') ?? '';
  const page = await postForm(app, '/keys', { token }, { accept: 'text/html' });
  return { page, token: tokenIn(page.body) };
}

/** The token of the forms on a page of keys; empty if there is none. */
export function tokenIn(page: string): string {
  return /name="token" value="([^"]+)"/.exec(page)?.[1] ?? '';
}
