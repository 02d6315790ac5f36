import type { FastifyInstance } from 'fastify';
import type { LiveReport } from '../live/live-report.ts';
import type { Operation } from '../operation.ts';
import type { Responses } from '../responses/responses.ts';
import type { Traffic, UpstreamHealth } from '../telemetry/traffic.ts';
import { assets } from './assets.ts';
import { docs } from './docs/docs.ts';
import { explore } from './explore/explore.ts';
import { home } from './home/home.ts';
import type { Layout } from './layout.ts';
import { robotsTxt } from './robots-txt.ts';
import { securityTxt } from './security-txt.ts';
import { status } from './status/status.ts';

export interface SiteOptions {
  layout: Layout;
  operations: readonly Operation[];
  responses: Pick<Responses, 'find'>;
  publicUrl: string;
  docsUrl: string;
  isSandbox: boolean;
  /** The sandbox's key for everybody; null where there is none. */
  testKey: () => Promise<string | null>;
  tileUrl: string | null;
  tileAttribution: string;
  networkMap: object | null;
  securityContact: string;
  /** The mailto: or https: address to ask for another plan; null when there is none. */
  plansContact: string | null;
  traffic: Traffic;
  upstreamHealth?: (() => UpstreamHealth) | undefined;
  live?: (() => LiveReport) | undefined;
  now: () => Date;
}

/** The pages for people. */
export async function site(app: FastifyInstance, options: SiteOptions): Promise<void> {
  await app.register(assets);
  await app.register(home, options);
  await app.register(docs, options);
  await app.register(explore, options);
  await app.register(status, { ...options, operations: options.operations.map(({ path }) => path) });
  await app.register(robotsTxt);
  await app.register(securityTxt, { ...options, contact: options.securityContact });
}
