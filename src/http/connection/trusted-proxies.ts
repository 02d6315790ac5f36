import { BlockList, isIP } from 'node:net';
import { z } from 'zod';

/** Proxies whose `X-Forwarded-For` is trusted: none, a number of proxies in front, or the proxies in the given networks. */
export type TrustedProxies = false | number | readonly string[];

/** The highest number of proxies accepted. With a number above the real one, callers could forge their address. */
const MAX_HOPS = 10;
const allowed = `must be off, the number of proxies in front (at most ${MAX_HOPS}), or their networks such as 10.0.0.0/8 separated by commas`;
const everybody =
  'must be the number of proxies in front, or their networks: if everyone is trusted, any caller could forge the ' +
  'address that limits signups';

const OFF = ['off', 'false', '0'];
const EVERYBODY = ['on', 'true', 'yes'];

/** The variable `TRUST_PROXY`. */
export const trustedProxies = z.string().transform((text, context): TrustedProxies => {
  const value = text.trim().toLowerCase();
  if (OFF.includes(value)) return false;
  if (/^[1-9]\d?$/.test(value) && Number(value) <= MAX_HOPS) return Number(value);
  const networks = value.split(',').map((part) => part.trim());
  const trustsEverybody = EVERYBODY.includes(value) || (networks.every(isNetwork) && trustsTheInternet(networks));
  if (!trustsEverybody && networks.every(isNetwork)) return networks;
  context.issues.push({ code: 'custom', input: text, message: trustsEverybody ? everybody : allowed });
  return z.NEVER;
});

/** Whether an address is one of our proxies; `hop` is 0 for the peer of the connection, 1 for the one before it, and so on. */
export type IsProxy = (address: string, hop: number) => boolean;

export function proxyTest(trusted: TrustedProxies): IsProxy {
  if (trusted === false) return () => false;
  if (typeof trusted === 'number') return (_address, hop) => hop < trusted;
  const list = new BlockList();
  for (const network of trusted) {
    const [address = '', prefix] = network.split('/');
    const family = familyOf(address);
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address));
}

/**
 * Networks with more sample addresses than this are refused. All private networks together contain nine, and one operator's
 * public networks hardly any.
 */
const MAX_SAMPLES = 12;
/** One address in each quarter of each /8 of IPv4, at varying offsets. */
const IPV4_SAMPLES = Array.from({ length: 1024 }, (_, n) => `${n >> 2}.${(n & 3) * 64 + ((n * 37) % 64)}.${n % 251}.7`);
/** One address in each /16 of 2000::/3, which contains all public addresses of IPv6. */
const IPV6_SAMPLES = Array.from(
  { length: 0x2000 },
  (_, n) => `${(0x2000 + n).toString(16)}:${(n % 16).toString(16)}::7`,
);

/**
 * Whether the networks contain more than a small part of the Internet. Samples are tested as requests are, because a network of
 * IPv6 may contain all of IPv4.
 */
function trustsTheInternet(networks: readonly string[]): boolean {
  const isProxy = proxyTest(networks);
  const isTooMany = (samples: readonly string[]) =>
    samples.filter((address) => isProxy(address, 0)).length > MAX_SAMPLES;
  return isTooMany(IPV4_SAMPLES) || isTooMany(IPV6_SAMPLES);
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...surplus] = text.split('/');
  const version = isIP(address);
  if (version === 0 || surplus.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
}
