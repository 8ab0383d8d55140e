import { BlockList, isIP } from 'node:net';
import type { Request } from './request.js';

/** A proxy's report on the request that it forwarded: the values of X-Forwarded-Proto and X-Forwarded-Host. */
export interface Forwarded {
  proto: string;
  host: string;
}

/** Takes the scheme and host from a trusted proxy. Of several proxies the first in the list is the one that the client reached. */
export function applyForwarded(request: Request, { proto, host }: Forwarded): void {
  const [scheme = '', name = ''] = [proto, host].map(values => values.split(',')[0]!.trim());
  if (scheme === 'http' || scheme === 'https') request.scheme = scheme;
  if (/^[A-Za-z0-9.:[\]-]{1,255}$/.test(name)) request.host = name;
}

/** Parses a list of addresses and ranges. Returns null if it is empty, and throws if an entry is neither. */
export function parseTrustedProxies(list: string): BlockList | null {
  const entries = list
    .split(',')
    .map(entry => entry.trim())
    .filter(entry => entry !== '');
  if (entries.length === 0) return null;
  const proxies = new BlockList();
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    const maxBits = family === 'ipv6' ? 128 : 32;
    const isRange = bits !== undefined && /^\d{1,3}$/.test(bits) && Number(bits) <= maxBits;
    if (isIP(address) === 0 || (bits !== undefined && !isRange))
      throw new Error(`must be a list of addresses or ranges such as 10.0.0.0/8,::1; "${entry}" is neither`);
    if (isRange) proxies.addSubnet(address, Number(bits), family);
    else proxies.addAddress(address, family);
  }
  return proxies;
}

/** Tells whether a socket's remote address is a trusted proxy. A BlockList also matches IPv4 addresses that are mapped to IPv6. */
export function isTrusted(proxies: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && proxies.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/**
 * The address of the client: that of the socket, or, if it is a trusted proxy, the last one in X-Forwarded-For that is no trusted proxy.
 * What comes before that address may be invented.
 */
export function clientAddress(socket: string, forwardedFor: string, proxies: BlockList | null): string {
  let address = socket;
  const reported = forwardedFor.split(',');
  while (proxies && isTrusted(proxies, address)) {
    const next = reported.pop()?.trim() ?? '';
    if (isIP(next) === 0) break;
    address = next;
  }
  return address;
}
