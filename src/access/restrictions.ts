import { BlockList, isIPv4, isIPv6 } from 'node:net';
import type { Log } from '../core/log.ts';
import type { ApiError } from '../errors/api-error.ts';
import { suspended } from '../errors/messages.ts';
import type { RestrictionSource } from './store.ts';

const READ_EVERY_MS = 1000;

/** Stored as JSON under `account:ID`, `domain:NAME` or `network:ADDRESS/BITS`. */
export interface Restriction {
  /** UTC, ISO 8601. */
  since: string;
  /** A sentence for callers, or empty. */
  reason: string;
}

/**
 * The accounts, domains and networks suspended by operators: a copy of the store's records, which every process reloads each
 * second. While the store is unreachable, the last copy applies.
 */
export class Restrictions {
  readonly #store: RestrictionSource;
  readonly #log: Log;
  #version = '';
  /** True while the store cannot be read. */
  #isBehind = false;
  /** Keyed by the store's names, `account:ID` and `domain:NAME`. */
  #errors = new Map<string, ApiError>();
  #networks: { list: BlockList; error: ApiError }[] = [];
  #timer: NodeJS.Timeout | null = null;
  #reading: Promise<void> | null = null;

  constructor({ store, log }: { store: RestrictionSource; log: Log }) {
    this.#store = store;
    this.#log = log;
  }

  /** Reloads every second from now on. */
  follow(): void {
    this.#timer = setInterval(() => void this.refresh(), READ_EVERY_MS).unref();
  }

  close(): void {
    if (this.#timer) clearInterval(this.#timer);
  }

  /** Reloads now; concurrent calls share one load. */
  refresh(): Promise<void> {
    this.#reading ??= this.#load().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  /** The error for a suspended account; null if it is not suspended. */
  ofCaller({ accountId, domain = '' }: { accountId: string; domain?: string }): ApiError | null {
    if (this.#errors.size === 0) return null;
    return this.#errors.get(`account:${accountId}`) ?? this.ofDomain(domain);
  }

  /** The error for a suspended mail domain, which includes its subdomains; null if there is none. */
  ofDomain(domain: string): ApiError | null {
    if (this.#errors.size === 0) return null;
    const labels = domain.split('.');
    for (let first = 0; first < labels.length; first++) {
      const error = this.#errors.get(`domain:${labels.slice(first).join('.')}`);
      if (error) return error;
    }
    return null;
  }

  hasNetworks(): boolean {
    return this.#networks.length > 0;
  }

  ofNetwork(ip: string): ApiError | null {
    const family = isIPv4(ip) ? 'ipv4' : 'ipv6';
    if (family === 'ipv6' && !isIPv6(ip)) return null;
    return this.#networks.find(({ list }) => list.check(ip, family))?.error ?? null;
  }

  async #load(): Promise<void> {
    try {
      const changed = await this.#store.loadRestrictions(this.#version);
      if (changed) this.#set(changed.values);
      this.#version = changed?.version ?? this.#version;
      this.#isBehind = false;
    } catch (error) {
      const { name, message } = error as Error;
      const reason = name === 'MaxRetriesPerRequestError' ? 'the account store is unreachable' : message;
      // Log once, because this runs every second.
      if (!this.#isBehind) this.#log.info({ reason }, 'suspensions cannot be reloaded; keeping the last copy');
      this.#isBehind = true;
    }
  }

  #set(values: Readonly<Record<string, string>>): void {
    this.#errors = new Map();
    this.#networks = [];
    const counts = { account: 0, domain: 0, network: 0 };
    for (const [storedName, text] of Object.entries(values)) {
      const end = storedName.indexOf(':');
      const [kind, name] = [storedName.slice(0, end), storedName.slice(end + 1)];
      // Earlier versions stored other restrictions too.
      if (kind !== 'account' && kind !== 'domain' && kind !== 'network') continue;
      counts[kind]++;
      const error = suspended(kind, (JSON.parse(text) as Restriction).reason);
      const list = kind === 'network' ? parseNetwork(name) : null;
      if (list) this.#networks.push({ list, error });
      else this.#errors.set(storedName, error);
    }
    const { account: accounts, domain: domains, network: networks } = counts;
    // A store with all suspensions lifted still has a version, which is not worth logging at startup.
    if (accounts + domains + networks === 0 && this.#version === '') return;
    this.#log.warn({ accounts, domains, networks }, 'an operator has changed the suspensions');
  }
}

/** Parses `203.0.113.7`, `203.0.113.0/24` or `2001:db8::/32`; null for other texts. */
export function parseNetwork(text: string): BlockList | null {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIPv4(address) ? 'ipv4' : isIPv6(address) ? 'ipv6' : null;
  if (!family || rest.length > 0 || address.includes('%')) return null;
  const longest = family === 'ipv4' ? 32 : 128;
  const prefix = bits === undefined ? longest : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  if (!(prefix >= 0 && prefix <= longest)) return null;
  const list = new BlockList();
  list.addSubnet(address, prefix, family);
  return list;
}
