import { ownerOf } from '#src/access/domains.ts';
import { networksAround } from '#src/access/limits/client-network.ts';
import { HOUR_MS, MINUTE_MS } from '#src/core/clock.ts';
import { createBoundedMap } from '#src/core/own-memory.ts';
import { ApiError } from '#src/errors/api-error.ts';
import { tooManyMails } from '#src/errors/messages.ts';

export type Throttle = ReturnType<typeof createThrottle>;

/** Limits of sent mails; a mail that fails does not count. */
export interface MailLimits {
  /** Mails per hour for all clients together. */
  perHour: number;
  /** Mails per hour for one client network; larger enclosing networks get a multiple of it. */
  perNetwork: number;
  /** Mails per hour to one domain, and a multiple of it for mail providers. Unlimited by default. */
  perDomain?: number;
  /** Mails to one address within `addressWindowMinutes` (default: six hours). */
  perAddress: number;
  addressWindowMinutes?: number;
}

/**
 * Only sent mails are recorded, each under at most six names, so `perHour` bounds the memory. This is the bound for large
 * values of `perHour`.
 */
const MAX_WINDOWS = 50_000;
/** Limits of the enclosing networks, as multiples of `perNetwork`, narrowest first. */
const NETWORK_FACTORS = [1, 3, 6, 10];
/** Maximum share of all mails for an enclosing network, unless `perNetwork` is higher. */
const MAX_SHARE_OF_ALL = 0.4;
const SHARED_DOMAIN_FACTOR = 4;
/** Share of the hour's mails, and of those to one domain, reserved for newcomers: large networks that have requested few. */
const NEWCOMERS_SHARE = 0.25;
const FEW = 3;

/** A fixed window that starts with its first mail. */
interface ThrottleWindow {
  count: number;
  endsAt: number;
}

/** Limits how many mails clients can request, in this process. */
export function createThrottle(limits: MailLimits, now: () => number) {
  const { perHour, perNetwork, perDomain = Number.POSITIVE_INFINITY, perAddress, addressWindowMinutes = 360 } = limits;
  // Keys: a network, `@` with a domain, a mailbox, or the empty string for all.
  const windows = createBoundedMap<ThrottleWindow>('requested mails', MAX_WINDOWS);
  const maxPerEnclosingNetwork = Math.max(perNetwork, perHour * MAX_SHARE_OF_ALL);

  function openWindow(name: string, lengthMs: number): ThrottleWindow {
    const at = now();
    const existing = windows.get(name);
    // A window that ends later than a new one would is from before the clock was set back.
    return existing && existing.endsAt > at && existing.endsAt <= at + lengthMs
      ? existing
      : { count: 0, endsAt: at + lengthMs };
  }

  function check({ count, endsAt }: ThrottleWindow, limit: number, reason: string): void {
    if (count >= limit) throw tooManyMails(reason, Math.max(1, Math.ceil((endsAt - now()) / 1000)));
  }

  return {
    /**
     * Records one mail requested by `ip` for `email`, and takes the record back if the account store fails in `send`, because no
     * mail was sent then. Throws `TOO_MANY_REQUESTS` when a limit is reached.
     */
    async count<Sent>(ip: string, email: string, send: () => Promise<Sent>): Promise<Sent> {
      const recorded = this.consume(ip, email);
      try {
        return await send();
      } catch (error) {
        if (error instanceof ApiError && error.unavailable === 'store') {
          for (const window of recorded) window.count -= 1;
        }
        throw error;
      }
    },
    /** Records one mail. Throws like `count`. */
    consume(ip: string, email: string): ThrottleWindow[] {
      const networks = networksAround(ip);
      const mailbox = mailboxOf(email);
      const domain = registeredDomain(mailbox);
      const ofNetworks = networks.map((name) => openWindow(name, HOUR_MS));
      const ofDomain = openWindow(`@${domain}`, HOUR_MS);
      const ofAddress = openWindow(mailbox, addressWindowMinutes * MINUTE_MS);
      const ofAll = openWindow('', HOUR_MS);
      for (const [index, ofNetwork] of ofNetworks.entries()) {
        const limit = Math.min(perNetwork * (NETWORK_FACTORS[index] ?? 1), maxPerEnclosingNetwork);
        const subject = index === 0 ? 'Your network has' : 'The networks around yours have';
        check(ofNetwork, limit, `${subject} requested too many mails.`);
      }
      check(ofAddress, perAddress, 'Too many mails were requested for this address.');
      // The second-widest: /24 for IPv4, /48 for IPv6.
      const ofWide = ofNetworks.at(-2) ?? ofNetworks[0];
      const share = (ofWide?.count ?? 0) < FEW ? 1 : 1 - NEWCOMERS_SHARE;
      const ofThisDomain = perDomain * (isSharedDomain(domain) ? SHARED_DOMAIN_FACTOR : 1);
      check(ofDomain, ofThisDomain * share, 'Too many mails were requested for addresses of this domain.');
      check(ofAll, perHour * share, 'This service has reached its hourly limit of mails.');
      const windowNames = [...networks, `@${domain}`, mailbox, ''];
      const recorded = [...ofNetworks, ofDomain, ofAddress, ofAll];
      for (const [index, window] of recorded.entries()) {
        window.count += 1;
        windows.set(windowNames[index] ?? '', window);
      }
      return recorded;
    },
  };
}

/** Public mail providers, and mail domains of whole school systems: one domain stands for many people. */
const SHARED_DOMAINS = new Set(
  `gmail.com outlook.com outlook.com.au hotmail.com hotmail.co.uk live.com live.com.au msn.com yahoo.com yahoo.com.au
ymail.com icloud.com me.com mac.com proton.me protonmail.com pm.me aol.com gmx.com gmx.net gmx.de web.de mail.com
fastmail.com fastmail.com.au hey.com zoho.com tuta.io tutanota.com bigpond.com bigpond.net.au optusnet.com.au
iinet.net.au tpg.com.au qq.com 163.com naver.com det.nsw.edu.au education.nsw.gov.au ed.act.edu.au`.split(/\s+/),
);

/**
 * Returns the mailbox behind an address, for limits only; accounts keep the address as given. Many mail servers deliver
 * `name+anything@example.com` to `name@example.com` (subaddressing, RFC 5233), and Gmail ignores dots.
 */
function mailboxOf(email: string): string {
  const at = email.lastIndexOf('@');
  const domain = email.slice(at + 1) === 'googlemail.com' ? 'gmail.com' : email.slice(at + 1);
  const name = email.slice(0, at).split('+', 1)[0] || email.slice(0, at);
  return `${domain === 'gmail.com' ? name.replaceAll('.', '') : name}@${domain}`;
}

/** Whether addresses of the domain, or of domains below it, belong to many people or organisations. */
export function isSharedDomain(domain: string): boolean {
  return SHARED_DOMAINS.has(domain) || ownerOf(domain).isSuffix;
}

/** Returns the registered domain, because its owner can create any number of subdomains. */
function registeredDomain(mailbox: string): string {
  const host = mailbox.slice(mailbox.lastIndexOf('@') + 1);
  return ownerOf(host).domain ?? host;
}
