import { isSharedDomain } from '#web/signup/throttle.ts';
import { parseNetwork, type Restriction } from '../access/restrictions.ts';
import type { OperatorRecords } from '../access/store.ts';
import { type Command, type CommandInput, getAccount, type TableRow, UNPRINTABLE, UsageError } from './command.ts';

const IN_EFFECT = 'In effect on all instances within two seconds.';
const MAX_REASON = 200;
/** Prefix lengths of the widest networks that can be suspended; a wider one is probably a mistake. */
const WIDEST = { ipv4: 8, ipv6: 16 };

export const RESTRICTION_COMMANDS: Record<string, Command> = {
  async suspend(input) {
    const { store, now, options, operands } = input;
    const suspended = await loadRestrictions(store);
    if (operands.length === 0) {
      const all = [...suspended];
      const rows = all.map(([name, { since, reason }]): TableRow => ({ suspended: name, since, reason }));
      return { json: all.map(([name, restriction]) => ({ name, ...restriction })), rows };
    }
    const name = await nameOf(input);
    if (options.lift) {
      if (!suspended.has(name)) throw new UsageError(`${name} is not suspended.`);
      await store.setRestriction(name, null);
      return { json: { name }, rows: [{ lifted: name }], note: IN_EFFECT };
    }
    const domain = name.startsWith('domain:') ? name.slice('domain:'.length) : '';
    if (isSharedDomain(domain) && !options.yes) {
      throw new UsageError(
        `${domain} has addresses of many people or organisations. Add --yes to suspend all of its accounts.`,
      );
    }
    const restriction: Restriction = { since: new Date(now).toISOString(), reason: getReason(options.reason) };
    await store.setRestriction(name, JSON.stringify(restriction));
    return { json: { name, ...restriction }, rows: [{ suspended: name }], note: IN_EFFECT };
  },
};

/** Returns the store's name for an account (address or ID), `@DOMAIN` or network. */
async function nameOf({ store, operands: [text] }: CommandInput): Promise<string> {
  if (text?.startsWith('@')) {
    const domain = text.slice(1).toLowerCase();
    if (/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(domain)) return `domain:${domain}`;
    throw new UsageError(`"${text}" is not @ and a mail domain.`);
  }
  if (text && parseNetwork(text)) {
    const [address = '', bits] = text.toLowerCase().split('/');
    const widest = address.includes(':') ? WIDEST.ipv6 : WIDEST.ipv4;
    if (bits && Number(bits) < widest) throw new UsageError(`${text} is wider than /${widest}.`);
    return `network:${address}${bits ? `/${bits}` : ''}`;
  }
  return `account:${(await getAccount(store, text)).id}`;
}

function getReason(reason = ''): string {
  if (reason.length > MAX_REASON || UNPRINTABLE.test(reason)) {
    throw new UsageError(`The reason is one line of up to ${MAX_REASON} characters; callers read it.`);
  }
  return reason.trim();
}

/** Reads suspensions, ignoring other entries of earlier versions. */
export async function loadRestrictions(store: OperatorRecords): Promise<Map<string, Restriction>> {
  const { values = {} } = (await store.loadRestrictions('none')) ?? {};
  const suspensions = Object.entries(values).filter(([name]) => name.includes(':'));
  return new Map(suspensions.map(([name, text]) => [name, JSON.parse(text)]));
}
