import { isIPv4, isIPv6 } from 'node:net';

/** An IPv6 address has at most 45 characters; the rest leaves room for a zone such as `%eth0`. */
const MAX_LENGTH = 64;

/**
 * The network by which a client is limited: an IPv4 address, or the /64 of an IPv6 address, because one subscriber usually has
 * a whole /64. An IPv4-mapped IPv6 address counts as IPv4. All texts that are not an IP address share one network, because a
 * client behind a proxy can invent them.
 */
export function clientNetwork(ip: string): string {
  const parts = readAddress(ip);
  if (!parts) return 'invalid';
  return parts.length === 4 ? parts.join('.') : networkText(parts.slice(0, 4));
}

/**
 * The client's network and those containing it, widest last: address, /24 and /16 for IPv4; /64, /56, /48 and /32 for IPv6.
 * Sites and customers have a /56 or /48, providers a /32.
 */
export function networksAround(ip: string): string[] {
  const parts = readAddress(ip);
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
function readAddress(ip: string): number[] | null {
  const address = ip.slice(0, MAX_LENGTH).split('%', 1)[0] ?? '';
  if (ip.length > MAX_LENGTH) return null;
  if (isIPv4(address)) return address.split('.').map(Number);
  if (!isIPv6(address)) return null;
  const groups = toGroups(address);
  return isIPv4Mapped(groups) ? groups.slice(6).flatMap((group) => [group >> 8, group & 0xff]) : groups;
}

function networkText(groups: number[]): string {
  return groups.map((group) => group.toString(16)).join(':');
}

/** The eight numbers of a valid IPv6 address. */
function toGroups(address: string): number[] {
  const [head = '', tail] = address.split('::');
  const before = parseGroups(head);
  if (tail === undefined) return before;
  const after = parseGroups(tail);
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

function parseGroups(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((part) => {
    if (!part.includes('.')) return [Number.parseInt(part, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = part.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

/** `::ffff:0:0/96` */
function isIPv4Mapped(groups: number[]): boolean {
  return groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
}
