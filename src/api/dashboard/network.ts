import { isIP } from 'node:net';

/** What failed sign-ins are counted by: an IPv4 address, or the first 64 bits of an IPv6 address, because a host may use all addresses that share them. */
export function networkOf(address: string): string {
  const [plain = ''] = address.split('%');
  if (isIP(plain) !== 6) return plain;
  const short = new URL(`http://[${plain}]`).hostname.slice(1, -1);
  // An IPv4 address on a socket for both.
  if (short.startsWith('::ffff:')) return short;
  const [before = [], after = []] = short.split('::').map(half => half.split(':').filter(Boolean));
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after].slice(0, 4).join(':');
}
