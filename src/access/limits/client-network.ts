import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Longer texts are no IP address: an IPv6 address has at most 45 characters, and the rest is room for a zone such as `%eth0`. */
const MAX_LENGTH = 64;

/**
 * The network by which a client is limited: an IPv4 address, or the /64 of an IPv6 address, because one subscriber usually has
 * a whole /64. An IPv4-mapped IPv6 address counts as IPv4. All texts that are not an IP address share one network, because a
 * client behind a proxy can invent them.
 */
export function clientNetwork(ip: string): string {
  const parts = parseAddress(ip);
  if (!parts) return 'invalid';
  return parts.length === 4 ? parts.join('.') : networkText(parts.slice(0, 4));
}

/**
 * The client's network and those containing it, widest last: address, /24 and /16 for IPv4; /64, /56, /48 and /32 for IPv6.
 * Sites and customers have a /56 or /48, providers a /32.
 */
export function networksAround(ip: string): string[] {
  const parts = parseAddress(ip);
  const narrowest = clientNetwork(ip);
  if (!parts) return [narrowest];
  if (parts.length === 4) return [narrowest, `${parts.slice(0, 3).join('.')}/24`, `${parts.slice(0, 2).join('.')}/16`];
  const [a = 0, b = 0, c = 0, d = 0] = parts;
  return [
    narrowest,
    `${networkText([a, b, c, d >> 8])}/56`,
    `${networkText([a, b, c])}/48`,
    `${networkText([a, b])}/32`,
  ];
}

/** The four numbers of an IPv4 address or eight of an IPv6 address; null for other texts. */
function parseAddress(ip: string): number[] | null {
  const address = ip.length > MAX_LENGTH ? '' : (ip.split('%', 1)[0] ?? '');
  // The library also takes short and octal forms of IPv4, which only a client invents.
  if (isIP(address) === 0) return null;
  const parsed = ipaddr.process(address);
  return 'parts' in parsed ? parsed.parts : parsed.octets;
}

function networkText(groups: number[]): string {
  return groups.map((group) => group.toString(16)).join(':');
}
