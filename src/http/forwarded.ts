import { BlockList, isIP } from 'node:net';
import type { Request } from './request.js';

/** What a proxy in front tells of the request that it passed on. */
export interface Forwarded {
  proto: string;
  host: string;
}

/** Takes over what a trusted proxy tells: of several proxies the first told what the client asked for. */
export function applyForwarded(request: Request, { proto, host }: Forwarded): void {
  const [scheme = '', name = ''] = [proto, host].map(values => values.split(',')[0]!.trim());
  if (scheme === 'http' || scheme === 'https') request.scheme = scheme;
  if (/^[A-Za-z0-9.:[\]-]{1,255}$/.test(name)) request.host = name;
}

/** The proxies that are believed. Throws a sentence about what is no address. */
export function parseTrustedProxies(list: string): BlockList | null {
  const entries = list
    .split(',')
    .map(entry => entry.trim())
    .filter(entry => entry !== '');
  if (entries.length === 0) return null;
  const trusted = new BlockList();
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    const most = family === 'ipv6' ? 128 : 32;
    const isRange = bits !== undefined && /^\d{1,3}$/.test(bits) && Number(bits) <= most;
    if (isIP(address) === 0 || (bits !== undefined && !isRange))
      throw new Error(`must be a list of addresses or ranges such as 10.0.0.0/8,::1; "${entry}" is neither`);
    if (isRange) trusted.addSubnet(address, Number(bits), family);
    else trusted.addAddress(address, family);
  }
  return trusted;
}

/** Whether an address, as a socket tells it, is one of them. An IPv4 address may come as one of IPv6. */
export function isTrusted(trusted: BlockList, address: string): boolean {
  // uWebSockets.js writes all eight groups out.
  const mapped = /^(?:0000:){5}ffff:([0-9a-f]{2})([0-9a-f]{2}):([0-9a-f]{2})([0-9a-f]{2})$/i.exec(address);
  if (mapped)
    return trusted.check(
      mapped
        .slice(1)
        .map(byte => Number.parseInt(byte, 16))
        .join('.'),
      'ipv4',
    );
  const family = isIP(address);
  return family !== 0 && trusted.check(address, family === 6 ? 'ipv6' : 'ipv4');
}
