import type { FastifyBaseLogger, FastifyInstance, FastifyReply } from 'fastify';
import { type Account, isValid, type KeyRecord, MAX_LIVE_KEYS } from '#src/access/account.ts';
import { formatDay, quotaDayFrom } from '#src/access/day.ts';
import { eventCounter, keyCounter, LISTED_EVENTS, makeGrant } from '#src/access/grant.ts';
import type { SignedKeys } from '#src/access/signed-keys.ts';
import type { Accounts } from '#src/access/store.ts';
import { ApiError } from '#src/errors/api-error.ts';
import { wantsPage } from '#src/http/paths.ts';
import { STOP_ID } from '#src/transit/region.ts';
import { type Html, html } from '../html.ts';
import { fixedPage, type Layout, sendPage } from '../layout.ts';
import { localTimeScript } from '../local-time.ts';
import {
  boardLinkForm,
  expectForm,
  type FieldErrors,
  invalidForm,
  linkForm,
  newKeyForm,
  newPublishableKeyForm,
  openKeysForm,
  parseForm,
  revokeForm,
  rotateForm,
  stopNameForm,
} from './form.ts';
import type { KeyService } from './key-service.ts';
import {
  type KeyCounts,
  keysView,
  linkRequestView,
  openKeysView,
  type RefusedGrant,
  uselessLinkNotice,
} from './keys-view.ts';
import type { KeysVisit, MagicLinks } from './magic-link.ts';
import type { Throttle } from './throttle.ts';

/** Mails with links and mails with keys have limits of their own. */
export interface KeysPageOptions {
  layout: Layout;
  accounts: Accounts;
  keyService: KeyService;
  links: MagicLinks;
  linkThrottle: Throttle;
  accountThrottle: Throttle;
  signedKeys: SignedKeys;
  /** Finds stops by name, best match first. */
  searchStops: (name: string) => Promise<readonly { stop_id: string; name: string }[]>;
  /** Text shown after a link was mailed. */
  sentText: string;
  now: () => number;
}

const DESCRIPTION = 'See, replace and revoke your API keys through a link sent by email.';
const CHART_DAYS = 30;
/** Number of days shown with counts per key. */
const EVENT_DAYS = 7;

/** `/keys`: owners see and change their keys through a magic link, without password or cookie. */
export async function keysPage(app: FastifyInstance, options: KeysPageOptions): Promise<void> {
  await app.register(openKeys, options);
  await app.register(requestLink, options);
  await app.register(changeKeys, options);
  await app.register(boardLink, options);
}

/** `GET` shows a page with a button; pressing it uses the link. */
async function openKeys(app: FastifyInstance, options: KeysPageOptions): Promise<void> {
  const { layout, links } = options;
  const withoutLink = fixedPage(() => linkRequestPage(layout));

  app.get<{ Querystring: { token?: unknown } }>('/keys', async (request, reply) => {
    const { token } = request.query;
    if (token === undefined) return withoutLink(request, reply);
    if (typeof token !== 'string' || !(await links.isValid(token))) return refuseLink(reply);
    return sendPage(reply, layout({ title: 'Your keys', path: '/keys', body: openKeysView(token) }));
  });

  app.post('/keys', async (request, reply) => {
    const fields = expectForm(openKeysForm, request.body);
    const visit = await links.use(fields.token);
    return visit ? sendKeys(reply, options, visit) : refuseLink(reply);
  });

  function refuseLink(reply: FastifyReply): FastifyReply {
    return sendPage(reply.code(400), linkRequestPage(layout, { notice: uselessLinkNotice }));
  }
}

/** Sends the keys page. Its forms have a new token each time, because a revocation ends earlier tokens. */
async function sendKeys(
  reply: FastifyReply,
  { layout, accounts, links, now }: KeysPageOptions,
  visit: KeysVisit,
  { notice, refused }: { notice?: string; refused?: RefusedGrant } = {},
): Promise<FastifyReply> {
  const { account } = visit;
  const days = Array.from({ length: CHART_DAYS }, (_, index) => quotaDayFrom(now(), index - CHART_DAYS + 1));
  const [keys, counts, wantsMails, token] = await Promise.all([
    accounts.listKeys(account.id),
    accounts.loadUsage(account.id, days),
    accounts.wantsQuotaMails(account.id),
    links.createVisitToken(visit),
  ]);
  const usage = days.map((day, index) => ({ day: formatDay(day), count: counts[index] ?? 0 }));
  const quotaMails = { isOn: wantsMails, url: links.createQuotaMailsUrl(account.id) };
  const valid = keys.filter((key) => isValid(key, now()));
  const events = await loadEvents(accounts, valid, days.slice(-EVENT_DAYS));
  const body = keysView({ account, keys, events, token, usage, quotaMails, notice, refused, now: now() });
  const head = html`${localTimeScript}<script type="module" src="/assets/wall/stop-field.js"></script>`;
  return sendPage(reply, layout({ title: 'Your keys', description: DESCRIPTION, path: '/keys', head, body }));
}

/** Returns daily counts of requests and events for each key, by the key's hash. */
async function loadEvents(accounts: Accounts, keys: readonly KeyRecord[], days: readonly string[]) {
  const names = ['requests', ...LISTED_EVENTS] as const;
  const ofKey = async ({ accountId, hash }: KeyRecord): Promise<[string, KeyCounts[]]> => {
    const counters = days.flatMap((day) =>
      names.map((name) => (name === 'requests' ? keyCounter(hash, day) : eventCounter(hash, day, name))),
    );
    const counts = await accounts.loadUsage(accountId, counters);
    const ofDay = (day: number) => names.map((name, index) => [name, counts[day * names.length + index] ?? 0]);
    return [hash, days.map((day, index) => ({ day: formatDay(day), ...Object.fromEntries(ofDay(index)) }))];
  };
  return new Map(await Promise.all(keys.map(ofKey)));
}

async function requestLink(app: FastifyInstance, options: KeysPageOptions): Promise<void> {
  const { layout, keyService, linkThrottle, sentText } = options;
  app.post('/keys/link', async (request, reply) => {
    const { fields, errors } = parseForm(linkForm, request.body);
    if (errors) {
      if (wantsPage(request)) return sendPage(reply.code(400), linkRequestPage(layout, { errors }));
      throw invalidForm(errors);
    }
    await linkThrottle.count(request.ip, fields.email, () => keyService.sendLink(fields.email));
    if (wantsPage(request)) return reply.redirect('/keys/sent', 303);
    return reply.code(202).send({ status: 'sent', message: sentText });
  });
}

async function changeKeys(app: FastifyInstance, options: KeysPageOptions): Promise<void> {
  const { accounts, keyService, links, accountThrottle, now } = options;

  app.post('/keys/new', async (request, reply) => {
    const fields = expectForm(newKeyForm, request.body);
    const visit = await getVisit(fields.token);
    const add = () => keyService.add(visit.account, fields.label);
    const isAdded = await accountThrottle.count(request.ip, visit.account.email, add);
    if (!isAdded) throw tooManyKeys();
    return sendKeys(reply, options, visit, { notice: 'The new key was sent to your inbox.' });
  });

  app.post('/keys/publishable', async (request, reply) => {
    const fields = expectForm(newPublishableKeyForm, request.body);
    const visit = await getVisit(fields.token);
    const { grant, problems } = makeGrant(fields, visit.account.plan);
    if (!grant) {
      if (!wantsPage(request)) throw invalidForm(problems);
      return sendKeys(reply.code(400), options, visit, { refused: { fields, problems } });
    }
    const add = () => keyService.add(visit.account, fields.label, grant);
    const isAdded = await accountThrottle.count(request.ip, visit.account.email, add);
    if (!isAdded) throw tooManyKeys();
    return sendKeys(reply, options, visit, { notice: 'The publishable key was sent to your inbox.' });
  });

  app.post('/keys/revoke', async (request, reply) => {
    const fields = expectForm(revokeForm, request.body);
    const { visit, key } = await getKey(fields);
    const { account } = visit;
    const wasValid = isValid(key, now());
    await keyService.revoke(account, key);
    const mail = wasValid ? await mailRevocation(request.log, keyService, account, key) : MAIL_CONFIRMS;
    return sendKeys(reply, options, visit, { notice: `The key is revoked and no longer works. ${mail}` });
  });

  app.post('/keys/rotate', async (request, reply) => {
    const fields = expectForm(rotateForm, request.body);
    const { visit, key } = await getKey(fields);
    const { account } = visit;
    if (key.revokedAt !== null) throw new ApiError('INVALID_PARAMETER', 'The key is revoked or already replaced.');
    accountThrottle.consume(request.ip, account.email);
    const isReplaced = await keyService.rotate(account, key, fields.overlap);
    if (!isReplaced) {
      throw new ApiError(
        'INVALID_PARAMETER',
        `Nothing was changed: the account has more than ${MAX_LIVE_KEYS} keys, or another one is being replaced at this moment. Try again in a minute, or revoke one.`,
      );
    }
    return sendKeys(reply, options, visit, {
      notice: 'A new key was sent to your inbox. Use it in your app before the old one stops working.',
    });
  });

  async function getVisit(token: string): Promise<KeysVisit> {
    const visit = await links.verifyVisit(token);
    if (visit) return visit;
    throw new ApiError(
      'INVALID_PARAMETER',
      'The page has expired, or a key was revoked since it was opened. Request a new link at /keys.',
    );
  }

  /** Returns the visit of the token and the account's key that the form names. */
  async function getKey(fields: { token: string; key: string }) {
    const visit = await getVisit(fields.token);
    const key = (await accounts.listKeys(visit.account.id)).find(({ hash }) => hash === fields.key);
    if (!key) throw new ApiError('INVALID_PARAMETER', 'The account has no such key.');
    return { visit, key };
  }
}

/**
 * `POST /keys/board`: creates a wall link with one of the account's keys, and opens it.
 * `POST /keys/stops`: stops that the form suggests while typing.
 */
async function boardLink(
  app: FastifyInstance,
  { accounts, links, signedKeys, searchStops: findStops }: KeysPageOptions,
): Promise<void> {
  app.post('/keys/stops', async (request) => {
    const fields = expectForm(stopNameForm, request.body);
    if (!(await links.verifyVisit(fields.token))) throw new ApiError('INVALID_PARAMETER', 'The link has expired.');
    return { stops: await findStops(fields.stop) };
  });

  app.post('/keys/board', async (request, reply) => {
    const fields = expectForm(boardLinkForm, request.body);
    const visit = await links.verifyVisit(fields.token);
    const keys = visit ? await accounts.listKeys(visit.account.id) : [];
    const key = keys.find(({ hash, revokedAt, grant }) => hash === fields.key && revokedAt === null && !grant);
    if (!key)
      throw new ApiError('INVALID_PARAMETER', 'The link has expired, or the key is revoked, replaced or publishable.');
    const stopId = STOP_ID.test(fields.stop) ? fields.stop.toUpperCase() : (await findStops(fields.stop))[0]?.stop_id;
    if (stopId === undefined) throw invalidForm({ stop: 'No stop with that name.' });
    return reply.redirect(`/board/${stopId}#${signedKeys.createWallLink(stopId, key)}`, 303);
  });
}

function tooManyKeys(): ApiError {
  return new ApiError('INVALID_PARAMETER', `The account has ${MAX_LIVE_KEYS} keys already. Revoke one first.`);
}

/** The key is already revoked, so a failed mail must not make it look valid. */
const MAIL_CONFIRMS = 'We sent you a confirmation.';

/** Mails the notice and returns a sentence about it for the page. */
async function mailRevocation(log: FastifyBaseLogger, keyService: KeyService, account: Account, key: KeyRecord) {
  try {
    const isSent = await keyService.mailRevocation(account, key);
    return isSent ? MAIL_CONFIRMS : 'We will send a confirmation when our mail server responds again.';
  } catch (error) {
    log.warn({ err: (error as Error).cause ?? error }, 'revocation mail not sent');
    return 'The confirmation mail could not be sent.';
  }
}

function linkRequestPage(
  layout: Layout,
  { notice, errors = {} }: { notice?: Html; errors?: FieldErrors } = {},
): string {
  return layout({ title: 'Your keys', description: DESCRIPTION, path: '/keys', body: linkRequestView(notice, errors) });
}
