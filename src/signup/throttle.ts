import { isIPv6 } from 'node:net';
import { LRUCache } from 'lru-cache';
import { ApiError } from '../errors.ts';

export interface Throttle {
  /** Counts one mail to that address, asked for from that network. Throws `TOO_MANY_REQUESTS` instead of the surplus. */
  take(ip: string, email: string): void;
}

export interface ThrottleLimits {
  /** Mails an hour that one network may ask for. */
  perNetwork: number;
  /** Mails to one address in `addressWindowMinutes`, six hours unless told. */
  perAddress: number;
  addressWindowMinutes?: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const MAX_REMEMBERED = 100_000;

interface Window {
  taken: number;
  endsAt: number;
}

/** Nobody's inbox is flooded from here, and nobody asks for keys by the thousand. Of this process alone. */
export function createThrottle(limits: ThrottleLimits, now: () => Date): Throttle {
  const { perNetwork, perAddress, addressWindowMinutes = 360 } = limits;
  const networks = new LRUCache<string, Window>({ max: MAX_REMEMBERED });
  const addresses = new LRUCache<string, Window>({ max: MAX_REMEMBERED });

  function windowOf(windows: LRUCache<string, Window>, name: string, lengthMs: number): Window {
    const known = windows.get(name);
    if (known && known.endsAt > now().getTime()) return known;
    const fresh = { taken: 0, endsAt: now().getTime() + lengthMs };
    windows.set(name, fresh);
    return fresh;
  }

  return {
    take(ip, email) {
      const network = windowOf(networks, networkOf(ip), HOUR_MS);
      if (network.taken >= perNetwork)
        throw tooMany('Too many mails were asked for from your network.', network, now());
      const address = windowOf(addresses, email, addressWindowMinutes * MINUTE_MS);
      if (address.taken >= perAddress) throw tooMany('Too many mails were asked for to this address.', address, now());
      network.taken += 1;
      address.taken += 1;
    },
  };
}

/** An IPv6 subscriber has a whole /64. */
function networkOf(ip: string): string {
  if (!isIPv6(ip) || ip.startsWith('::ffff:')) return ip;
  const [head = '', tail] = ip.split('::') as [string, string | undefined];
  const groups = head === '' ? [] : head.split(':');
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail === '' ? 0 : tail.split(':').length);
  return [...groups, ...Array(missing).fill('0'), ...(tail ? tail.split(':') : [])].slice(0, 4).join(':');
}

function tooMany(what: string, { endsAt }: Window, now: Date): ApiError {
  const seconds = Math.max(1, Math.ceil((endsAt - now.getTime()) / 1000));
  const minutes = Math.ceil(seconds / 60);
  const wait =
    seconds < 120 ? `${seconds} seconds` : minutes < 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
  return new ApiError('TOO_MANY_REQUESTS', `${what} Try again in ${wait}, and look into the spam folder meanwhile.`, {
    headers: { 'retry-after': String(seconds) },
  });
}
