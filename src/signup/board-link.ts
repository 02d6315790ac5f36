import type { FastifyInstance } from 'fastify';
import type { Accounts } from '../access/store.ts';
import { ApiError } from '../errors/api-error.ts';
import type { WallLinks } from '../site/board/wall-link.ts';
import { boardLinkForm, invalidForm, readForm } from './form.ts';
import type { MagicLinks } from './magic-link.ts';

const STOP_ID = /^[Gg]?\d{1,12}$/;

/** `POST /keys/board`: makes the link to a board on a wall with one of the account's keys, and opens it. */
export async function boardLink(
  app: FastifyInstance,
  options: {
    accounts: Accounts;
    links: MagicLinks;
    wallLinks: WallLinks;
    /** The identifier of the stop that a name most likely means; null for none. */
    findStop(name: string): Promise<string | null>;
  },
): Promise<void> {
  app.post('/keys/board', async (request, reply) => {
    const { accounts, links, wallLinks, findStop } = options;
    const { fields, errors } = readForm(boardLinkForm, request.body);
    if (errors) throw invalidForm(errors);
    const visit = await links.verifyVisit(fields.token);
    const keys = visit ? await accounts.listKeys(visit.account.id) : [];
    const key = keys.find(({ hash, revokedAt }) => hash === fields.key && revokedAt === null);
    if (!key) throw new ApiError('INVALID_PARAMETER', 'The link has expired, or the key is revoked or replaced.');
    const stopId = STOP_ID.test(fields.stop) ? fields.stop.toUpperCase() : await findStop(fields.stop);
    if (stopId === null) throw invalidForm({ stop: 'No stop of that name was found.' });
    return reply.redirect(`/board/${stopId}#${wallLinks.createToken(stopId, key)}`, 303);
  });
}
