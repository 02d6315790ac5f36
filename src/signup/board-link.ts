import type { FastifyInstance } from 'fastify';
import type { SignedKeys } from '../access/signed-keys.ts';
import type { Accounts } from '../access/store.ts';
import { ApiError } from '../errors/api-error.ts';
import { boardLinkForm, invalidForm, readForm, stopNameForm } from './form.ts';
import type { MagicLinks } from './magic-link.ts';

export type FindStops = (name: string) => Promise<readonly { stop_id: string; name: string }[]>;

const STOP_ID = /^[Gg]?\d{1,12}$/;

/**
 * `POST /keys/board`: makes the link to a board on a wall with one of the account's keys, and opens it.
 * `POST /keys/stops`: the stops that the form suggests as one types.
 */
export async function boardLink(
  app: FastifyInstance,
  options: {
    accounts: Accounts;
    links: MagicLinks;
    signedKeys: SignedKeys;
    findStops: FindStops;
  },
): Promise<void> {
  const { accounts, links, signedKeys, findStops } = options;

  app.post('/keys/stops', async (request) => {
    const { fields, errors } = readForm(stopNameForm, request.body);
    if (errors) throw invalidForm(errors);
    if (!(await links.verifyVisit(fields.token))) throw new ApiError('INVALID_PARAMETER', 'The link has expired.');
    return { stops: await findStops(fields.stop) };
  });

  app.post('/keys/board', async (request, reply) => {
    const { fields, errors } = readForm(boardLinkForm, request.body);
    if (errors) throw invalidForm(errors);
    const visit = await links.verifyVisit(fields.token);
    const keys = visit ? await accounts.listKeys(visit.account.id) : [];
    const key = keys.find(({ hash, revokedAt, grant }) => hash === fields.key && revokedAt === null && !grant);
    if (!key)
      throw new ApiError('INVALID_PARAMETER', 'The link has expired, or the key is revoked, replaced or publishable.');
    const stopId = STOP_ID.test(fields.stop) ? fields.stop.toUpperCase() : (await findStops(fields.stop))[0]?.stop_id;
    if (stopId === undefined) throw invalidForm({ stop: 'No stop of that name was found.' });
    return reply.redirect(`/board/${stopId}#${signedKeys.createWallLink(stopId, key)}`, 303);
  });
}
