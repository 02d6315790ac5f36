import { LRUCache } from 'lru-cache';
import { clientNetwork } from '../access/limits/client-network.ts';
import { tooManyMails } from '../errors/messages.ts';

/** Limits how many mails clients can request. Counts in this process only. */
export interface Throttle {
  /** Counts one mail that `ip` requests for `email`. Throws `TOO_MANY_REQUESTS` when a limit is reached. */
  consume(ip: string, email: string): void;
}

export interface MailLimits {
  /** Mails in an hour, for all clients together. */
  perHour: number;
  /** Mails in an hour that one client network can request. */
  perNetwork: number;
  /** Mails in `addressWindowMinutes` (default: six hours) to one address. */
  perAddress: number;
  addressWindowMinutes?: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Only mails that are sent are remembered, so `perHour` bounds the memory. This bounds it for any value of `perHour`. */
const MAX_WINDOWS = 50_000;

/** A fixed window: it begins with its first mail. */
interface Window {
  count: number;
  endsAt: number;
}

export function createThrottle(limits: MailLimits, now: () => Date): Throttle {
  const { perHour, perNetwork, perAddress, addressWindowMinutes = 360 } = limits;
  // With `max` the memory for all of them would be taken at once.
  const networks = new LRUCache<string, Window>({ maxSize: MAX_WINDOWS, sizeCalculation: () => 1 });
  const addresses = new LRUCache<string, Window>({ maxSize: MAX_WINDOWS, sizeCalculation: () => 1 });
  let total: Window | undefined;

  function openWindow(known: Window | undefined, lengthMs: number): Window {
    const at = now().getTime();
    // A window that ends later than a new one is from before the clock was set back.
    return known && known.endsAt > at && known.endsAt <= at + lengthMs ? known : { count: 0, endsAt: at + lengthMs };
  }

  function check({ count, endsAt }: Window, limit: number, reason: string): void {
    if (count >= limit) throw tooManyMails(reason, Math.max(1, Math.ceil((endsAt - now().getTime()) / 1000)));
  }

  return {
    consume(ip, email) {
      const network = clientNetwork(ip);
      const mailbox = mailboxOf(email);
      const ofNetwork = openWindow(networks.get(network), HOUR_MS);
      const ofAddress = openWindow(addresses.get(mailbox), addressWindowMinutes * MINUTE_MS);
      const ofAll = openWindow(total, HOUR_MS);
      check(ofNetwork, perNetwork, 'Your network has requested too many mails.');
      check(ofAddress, perAddress, 'Too many mails were requested for this address.');
      check(ofAll, perHour, 'This service has sent as many mails as it may in an hour.');
      for (const window of [ofNetwork, ofAddress, ofAll]) window.count += 1;
      networks.set(network, ofNetwork);
      addresses.set(mailbox, ofAddress);
      total = ofAll;
    },
  };
}

/** Many mail servers deliver `name+anything@example.com` to `name@example.com` (subaddressing, RFC 5233). */
function mailboxOf(email: string): string {
  const at = email.lastIndexOf('@');
  const name = email.slice(0, at).split('+', 1)[0];
  return name ? name + email.slice(at) : email;
}
