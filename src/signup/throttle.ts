import { isIPv6 } from 'node:net';
import { LRUCache } from 'lru-cache';
import { ApiError } from '../errors.ts';

/** Limits how many mails a client network can request, and how many an address can get. Counts in this process only. */
export interface Throttle {
  /** Counts one mail that `ip` requests for `email`. Throws `TOO_MANY_REQUESTS` when a limit is reached. */
  consume(ip: string, email: string): void;
}

export interface MailLimits {
  /** Mails in an hour. */
  perNetwork: number;
  /** Mails in `addressWindowMinutes` (default: six hours). */
  perAddress: number;
  addressWindowMinutes?: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const MAX_WINDOWS = 100_000;

interface Window {
  count: number;
  endsAt: number;
}

export function createThrottle(limits: MailLimits, now: () => Date): Throttle {
  const { perNetwork, perAddress, addressWindowMinutes = 360 } = limits;
  const networks = new LRUCache<string, Window>({ max: MAX_WINDOWS });
  const addresses = new LRUCache<string, Window>({ max: MAX_WINDOWS });

  function openWindow(windows: LRUCache<string, Window>, name: string, lengthMs: number): Window {
    const known = windows.get(name);
    if (known && known.endsAt > now().getTime()) return known;
    const opened = { count: 0, endsAt: now().getTime() + lengthMs };
    windows.set(name, opened);
    return opened;
  }

  return {
    consume(ip, email) {
      const network = openWindow(networks, networkOf(ip), HOUR_MS);
      if (network.count >= perNetwork) throw tooMany('Your network has requested too many mails.', network, now());
      const address = openWindow(addresses, email, addressWindowMinutes * MINUTE_MS);
      if (address.count >= perAddress) {
        throw tooMany('Too many mails were requested for this address.', address, now());
      }
      network.count += 1;
      address.count += 1;
    },
  };
}

/** The /64 network of an IPv6 address, because one subscriber usually has a whole /64. */
function networkOf(ip: string): string {
  if (!isIPv6(ip) || ip.startsWith('::ffff:')) return ip;
  const [head = '', tail] = ip.split('::') as [string, string | undefined];
  const groups = head === '' ? [] : head.split(':');
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail === '' ? 0 : tail.split(':').length);
  return [...groups, ...Array(missing).fill('0'), ...(tail ? tail.split(':') : [])].slice(0, 4).join(':');
}

function tooMany(reason: string, { endsAt }: Window, now: Date): ApiError {
  const seconds = Math.max(1, Math.ceil((endsAt - now.getTime()) / 1000));
  return new ApiError('TOO_MANY_REQUESTS', `${reason} Try again in ${durationText(seconds)}. Check the spam folder.`, {
    headers: { 'retry-after': String(seconds) },
  });
}

function durationText(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  if (seconds < 120) return `${seconds} seconds`;
  return minutes < 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}
