import { BlockList, isIPv4, isIPv6 } from 'node:net';
import type { ApiError } from '../errors/api-error.ts';
import { suspended, underMaintenance } from '../errors/messages.ts';
import type { Log } from '../log.ts';
import type { Caller } from './account.ts';
import type { OperatorRecords } from './store.ts';

const READ_EVERY_MS = 1000;
const LEAST_WAIT_SECONDS = 60;
/** The name under which maintenance is stored. */
export const MAINTENANCE = 'maintenance';

/** It is stored in JSON, under `account:ID`, `domain:NAME`, `network:ADDRESS/BITS` or `maintenance`. Moments are UTC, ISO 8601. */
export interface Restriction {
  since: string;
  /** A sentence for callers, or empty. */
  reason: string;
  /** When the maintenance is meant to end. */
  until?: string;
}

/**
 * The accounts, domains and networks that operators have suspended, and whether there is maintenance: a copy of what the store
 * has, which every process reads again each second. While the store is away, the last copy holds.
 */
export class Restrictions {
  readonly #store: Pick<OperatorRecords, 'readRestrictions'>;
  readonly #log: Log;
  readonly #now: () => Date;
  #version = '';
  /** True while the store cannot be read. */
  #isBehind = false;
  #accounts = new Map<string, ApiError>();
  #domains = new Map<string, ApiError>();
  #networks: { list: BlockList; error: ApiError }[] = [];
  #maintenance: Restriction | null = null;
  #timer: NodeJS.Timeout | null = null;
  #reading: Promise<void> | null = null;

  constructor(options: {
    store: Pick<OperatorRecords, 'readRestrictions'>;
    log: Log;
    now: () => Date;
  }) {
    this.#store = options.store;
    this.#log = options.log;
    this.#now = options.now;
  }

  /** Reads every second from now on. */
  follow(): void {
    this.#timer = setInterval(() => void this.refresh(), READ_EVERY_MS).unref();
  }

  close(): void {
    if (this.#timer) clearInterval(this.#timer);
  }

  /** Reads now, once at a time. */
  refresh(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  /** Why requests of the account are refused; null when they are not. */
  ofCaller({ accountId, domain = '' }: Pick<Caller, 'accountId' | 'domain'>): ApiError | null {
    return this.#accounts.get(accountId) ?? (this.#domains.size > 0 ? this.ofDomain(domain) : null);
  }

  /** The same for a mail domain; a domain is suspended with all below it. */
  ofDomain(domain: string): ApiError | null {
    if (this.#domains.size === 0) return null;
    const labels = domain.split('.');
    for (let first = 0; first < labels.length; first++) {
      const error = this.#domains.get(labels.slice(first).join('.'));
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

  /** Null when there is no maintenance. */
  maintenance(): ApiError | null {
    if (!this.#maintenance) return null;
    const { reason, until } = this.#maintenance;
    const left = until ? Math.ceil((Date.parse(until) - this.#now().getTime()) / 1000) : 0;
    return underMaintenance(reason, Math.max(LEAST_WAIT_SECONDS, left));
  }

  async #read(): Promise<void> {
    try {
      const changed = await this.#store.readRestrictions(this.#version);
      if (changed) this.#take(changed.values);
      this.#version = changed?.version ?? this.#version;
      this.#isBehind = false;
    } catch (error) {
      const { name, message } = error as Error;
      const reason = name === 'MaxRetriesPerRequestError' ? 'the account store is away' : message;
      // This is read every second.
      if (!this.#isBehind) this.#log.info({ reason }, 'suspensions and maintenance stay as they were last read');
      this.#isBehind = true;
    }
  }

  #take(values: Readonly<Record<string, string>>): void {
    this.#accounts = new Map();
    this.#domains = new Map();
    this.#networks = [];
    this.#maintenance = null;
    for (const [stored, text] of Object.entries(values)) {
      const restriction: Restriction = JSON.parse(text);
      const end = stored.indexOf(':');
      const [kind, name] = [stored.slice(0, end), stored.slice(end + 1)];
      if (stored === MAINTENANCE) this.#maintenance = restriction;
      if (kind === 'account') this.#accounts.set(name, suspended('account', restriction.reason));
      if (kind === 'domain') this.#domains.set(name, suspended('domain', restriction.reason));
      const list = kind === 'network' ? readNetwork(name) : null;
      if (list) this.#networks.push({ list, error: suspended('network', restriction.reason) });
    }
    const counts = { accounts: this.#accounts.size, domains: this.#domains.size, networks: this.#networks.length };
    const isNone = Object.keys(values).length === 0;
    // A store in which all are lifted still has a version, which says nothing at the start.
    if (isNone && this.#version === '') return;
    this.#log.warn({ ...counts, maintenance: this.#maintenance !== null }, 'an operator has changed the restrictions');
  }
}

/** `203.0.113.7`, `203.0.113.0/24` or `2001:db8::/32`; null for other texts. */
export function readNetwork(text: string): BlockList | null {
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
