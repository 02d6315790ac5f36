import { join } from 'node:path';
import type { Logger } from 'pino';
import { boardPages } from '#web/board/text-board.ts';
import { type PageOptions, pages } from '#web/pages.ts';
import { createMailer } from '#web/signup/mail/mailer.ts';
import type { AccountStore } from '../access/store.ts';
import type { Config } from '../config.ts';
import type { SharedRedis } from '../core/redis/shared-redis.ts';
import { fileIncidents, redisIncidents } from '../extensions/telemetry/incidents.ts';
import type { Instruments } from '../extensions/telemetry/instruments.ts';
import type { CreateExtension } from '../http/extension.ts';
import type { Upstream } from './upstream-source.ts';

/** Opens the boards and pages for people, with only the settings that they need. */
export function openPages(
  { tileUrl, tileAttribution, contact, smtpUrl, mailFrom, dataDir }: Config,
  options: {
    upstream: Upstream;
    redis: SharedRedis | null;
    accounts: { store: AccountStore; testKey(kind?: 'pub'): Promise<string | null> };
    /** What the status page reports. */
    reported: Pick<PageOptions, 'traffic' | 'upstreamHealth' | 'live' | 'carParks' | 'timetable' | 'punctuality'>;
    instruments: Instruments;
    now: () => number;
    log: Logger;
  },
): CreateExtension[] {
  const { upstream, redis, accounts, reported, instruments, now, log } = options;
  const { source, networkMap, isSandbox } = upstream;
  const testKey = () => accounts.testKey();
  return [
    boardPages({ testKey }),
    pages({
      ...reported,
      tileUrl,
      tileAttribution,
      networkMap,
      contact,
      incidentStore: redis
        ? redisIncidents({ redis, source })
        : fileIncidents(join(dataDir, isSandbox ? 'incidents-of-the-sandbox.json' : 'incidents.json')),
      testKey,
      publishableKey: () => accounts.testKey('pub'),
      accounts: accounts.store,
      mailer: createMailer({ smtpUrl, mailFrom, dataDir, log, now }),
      countMail: (outcome) => instruments.mails.inc({ outcome }),
    }),
  ];
}
