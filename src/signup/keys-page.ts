import type { FastifyBaseLogger, FastifyInstance, FastifyReply } from 'fastify';
import { type Account, type KeyRecord, MAX_LIVE_KEYS } from '../access/account.ts';
import { utcDayFrom } from '../access/day.ts';
import { PLANS } from '../access/plan.ts';
import { ApiError } from '../errors/api-error.ts';
import { wantsPage } from '../http/paths.ts';
import type { Html } from '../site/html.ts';
import type { Layout } from '../site/layout.ts';
import { localTimeScript } from '../site/local-time.ts';
import { sendPage } from '../site/page-answer.ts';
import type { Accounts } from './accounts.ts';
import { type FieldErrors, invalidForm, linkForm, newKeyForm, readForm, revokeForm, rotateForm } from './form.ts';
import type { KeyService } from './key-service.ts';
import { dashed, expiredLinkNotice, keysView, linkRequestView } from './keys-view.ts';
import type { MagicLinks } from './magic-link.ts';
import type { SentTexts } from './sent-pages.ts';
import type { Throttle } from './throttle.ts';
import { usageChart } from './usage-chart.ts';

export interface KeysPageOptions {
  layout: Layout;
  accounts: Accounts;
  keyService: KeyService;
  links: MagicLinks;
  linkThrottle: Throttle;
  accountThrottle: Throttle;
  texts: SentTexts;
  now: () => Date;
}

const DESCRIPTION = 'See, replace and revoke your API keys, by a link in a mail.';
const CHART_DAYS = 30;
/** What the page says after an action, by the value of `done` in its URL. */
const NOTICES = new Map([
  ['revoked', 'The key is revoked and no longer works. A mail confirms it.'],
  ['revoked-without-mail', 'The key is revoked and no longer works. The confirmation mail could not be sent.'],
  ['added', 'The new key is in your inbox, and nowhere else.'],
  ['rotated', 'A new key is in your inbox. Put it into your app before the old one ends.'],
]);

/** `/keys`: the owner of an account sees and changes its keys through a magic link. No password, no cookie. */
export async function keysPage(app: FastifyInstance, options: KeysPageOptions): Promise<void> {
  await app.register(showKeys, options);
  await app.register(requestLink, options);
  await app.register(changeKeys, options);
}

async function showKeys(app: FastifyInstance, options: KeysPageOptions): Promise<void> {
  const { layout, accounts, links, now } = options;
  app.get<{ Querystring: { token?: unknown; done?: unknown } }>('/keys', async (request, reply) => {
    const { token, done } = request.query;
    if (token === undefined) return sendLinkRequest(reply, layout, 200);
    const account = typeof token === 'string' ? await findAccount(accounts, links, token) : null;
    if (!account || typeof token !== 'string') return sendLinkRequest(reply, layout, 400, expiredLinkNotice());
    const days = Array.from({ length: CHART_DAYS }, (_, index) => utcDayFrom(now(), index - CHART_DAYS + 1));
    const [keys, counts, wantsMails] = await Promise.all([
      accounts.listKeys(account.id),
      accounts.readUsage(account.id, days),
      accounts.wantsQuotaMails(account.id),
    ]);
    const usage = usageChart(
      days.map((day, index) => ({ day: dashed(day), count: counts[index] ?? 0 })),
      PLANS[account.plan].dailyLimit,
    );
    const quotaMails = { isOn: wantsMails, url: links.createQuotaMailsUrl(account.id) };
    const notice = NOTICES.get(String(done));
    const body = keysView({ account, keys, token, usage, quotaMails, notice, now: now() });
    return sendPage(
      reply,
      layout({ title: 'Your keys', description: DESCRIPTION, path: '/keys', head: localTimeScript, body }),
    );
  });
}

async function requestLink(app: FastifyInstance, options: KeysPageOptions): Promise<void> {
  const { layout, keyService, linkThrottle, texts } = options;
  app.post('/keys/link', async (request, reply) => {
    const { fields, errors } = readForm(linkForm, request.body);
    if (errors) {
      if (wantsPage(request)) return sendLinkRequest(reply, layout, 400, undefined, errors);
      throw invalidForm(errors);
    }
    linkThrottle.consume(request.ip, fields.email);
    await keyService.sendLink(fields.email);
    if (wantsPage(request)) return reply.redirect('/keys/sent', 303);
    return reply.code(202).send({ status: 'sent', message: texts.link });
  });
}

async function changeKeys(app: FastifyInstance, options: KeysPageOptions): Promise<void> {
  const { accounts, keyService, links, accountThrottle, now } = options;

  app.post('/keys/new', async (request, reply) => {
    const { fields, errors } = readForm(newKeyForm, request.body);
    if (errors) throw invalidForm(errors);
    const account = await getAccount(fields.token);
    accountThrottle.consume(request.ip, account.email);
    const isAdded = await keyService.add(account, fields.label);
    if (!isAdded) {
      throw new ApiError('INVALID_PARAMETER', `The account has ${MAX_LIVE_KEYS} keys already. Revoke one first.`);
    }
    return reply.redirect(`/keys?token=${fields.token}&done=added`, 303);
  });

  app.post('/keys/revoke', async (request, reply) => {
    const { fields, errors } = readForm(revokeForm, request.body);
    if (errors) throw invalidForm(errors);
    const { account, key } = await getKey(fields);
    const wasRevoked = key.revokedAt !== null && new Date(key.revokedAt) <= now();
    await keyService.revoke(account, key);
    const isMailed = wasRevoked || (await mailRevocation(request.log, keyService, account, key));
    return reply.redirect(`/keys?token=${fields.token}&done=${isMailed ? 'revoked' : 'revoked-without-mail'}`, 303);
  });

  app.post('/keys/rotate', async (request, reply) => {
    const { fields, errors } = readForm(rotateForm, request.body);
    if (errors) throw invalidForm(errors);
    const { account, key } = await getKey(fields);
    if (key.revokedAt !== null) throw new ApiError('INVALID_PARAMETER', 'The key is revoked or already replaced.');
    accountThrottle.consume(request.ip, account.email);
    const isReplaced = await keyService.rotate(account, key, fields.overlap);
    if (!isReplaced) {
      throw new ApiError(
        'INVALID_PARAMETER',
        `Nothing was changed: the account has more than ${MAX_LIVE_KEYS} keys, or another one is being replaced at this moment. Try again in a minute, or revoke one.`,
      );
    }
    return reply.redirect(`/keys?token=${fields.token}&done=rotated`, 303);
  });

  async function getAccount(token: string): Promise<Account> {
    const account = await findAccount(accounts, links, token);
    if (account) return account;
    throw new ApiError('INVALID_PARAMETER', 'The link has expired or is incomplete. Request a new one at /keys.');
  }

  /** The account that the token opens, and the key of it that the form names. */
  async function getKey(fields: { token: string; key: string }) {
    const account = await getAccount(fields.token);
    const key = (await accounts.listKeys(account.id)).find(({ hash }) => hash === fields.key);
    if (!key) throw new ApiError('INVALID_PARAMETER', 'The account has no such key.');
    return { account, key };
  }
}

/** Whether the mail was sent. The key is revoked by now: a mail that fails must not make it look valid. */
async function mailRevocation(log: FastifyBaseLogger, keyService: KeyService, account: Account, key: KeyRecord) {
  try {
    await keyService.mailRevocation(account, key);
    return true;
  } catch (error) {
    log.warn({ err: (error as Error).cause ?? error }, 'the mail about a revoked key could not be sent');
    return false;
  }
}

async function findAccount(accounts: Accounts, links: MagicLinks, token: string): Promise<Account | null> {
  const accountId = links.verify(token);
  return accountId === null ? null : accounts.findAccount(accountId);
}

function sendLinkRequest(
  reply: FastifyReply,
  layout: Layout,
  status: number,
  notice?: Html,
  errors: FieldErrors = {},
): FastifyReply {
  const body = linkRequestView(notice, errors);
  return sendPage(reply.code(status), layout({ title: 'Your keys', description: DESCRIPTION, path: '/keys', body }));
}
