import type { FastifyInstance } from 'fastify';
import type { EfaClient } from '../efa/client.ts';
import { assets } from './assets.ts';
import { board } from './board.ts';
import { docs } from './docs.ts';
import { errorPages } from './error-pages.ts';
import { explore } from './explore.ts';
import { home } from './home.ts';
import { createLayout } from './layout.ts';
import { createLiveBoard } from './live-board.ts';
import { securityTxt } from './security-txt.ts';
import { status, type UpstreamHealth } from './status.ts';
import type { Traffic } from './traffic.ts';

export interface SiteOptions {
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
  const page = { ...options, layout: createLayout(options) };
  await app.register(assets);
  await app.register(home, { ...page, liveBoard: createLiveBoard(efa, now) });
  await app.register(docs, page);
  await app.register(errorPages, page);
  await app.register(explore, page);
  await app.register(status, page);
  await app.register(board, options);
  await app.register(securityTxt, { ...options, contact });
}
