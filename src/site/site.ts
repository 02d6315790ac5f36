import type { FastifyInstance } from 'fastify';
import type { EfaClient } from '../efa/client.ts';
import { assets } from './assets.ts';
import { board } from './board.ts';
import { docs } from './docs.ts';
import { errorPages } from './error-pages.ts';
import { explore } from './explore.ts';
import { home } from './home.ts';
import type { Layout } from './layout.ts';
import { createLiveBoard } from './live-board.ts';
import { robotsTxt } from './robots-txt.ts';
import { securityTxt } from './security-txt.ts';
import { status } from './status.ts';
import type { UpstreamHealth } from './status-report.ts';
import type { Traffic } from './traffic.ts';

export interface SiteOptions {
  layout: Layout;
  publicUrl: string;
  docsUrl: string;
  isSandbox: boolean;
  /** The sandbox's key for everybody; null where there is none. */
  testKey: () => Promise<string | null>;
  tileUrl: string | null;
  tileAttribution: string;
  securityContact: string;
  efa: Pick<EfaClient, 'departureMonitor'>;
  traffic: Traffic;
  upstreamHealth?: (() => UpstreamHealth) | undefined;
  now: () => Date;
}

/** The pages for people. */
export async function site(app: FastifyInstance, options: SiteOptions): Promise<void> {
  const { securityContact: contact, efa, now } = options;
  await app.register(assets);
  await app.register(home, { ...options, liveBoard: createLiveBoard(efa, now) });
  await app.register(docs, options);
  await app.register(errorPages, options);
  await app.register(explore, options);
  await app.register(status, options);
  await app.register(board, options);
  await app.register(robotsTxt);
  await app.register(securityTxt, { ...options, contact });
}
