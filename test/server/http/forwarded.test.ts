import { describe, expect, it } from 'vitest';
import { clientAddress, isTrusted, parseTrustedProxies } from '../../../src/server/http/forwarded.js';
import { startServer } from '../../harness/server.js';

describe('a list of trusted proxies', () => {
  const proxies = parseTrustedProxies('10.1.0.0/16, 192.0.2.7,::1,2001:db8::/32')!;

  it.each<[address: string, expected: boolean]>([
    ['10.1.255.1', true],
    ['10.2.0.1', false],
    ['192.0.2.7', true],
    ['192.0.2.8', false],
    ['0000:0000:0000:0000:0000:0000:0000:0001', true],
    ['2001:0db8:0000:0000:0000:0000:0000:0005', true],
    ['2001:0db9:0000:0000:0000:0000:0000:0005', false],
    ['0000:0000:0000:0000:0000:ffff:0a01:0203', true],
    ['0000:0000:0000:0000:0000:ffff:0a02:0203', false],
    ['::ffff:10.1.2.3', true],
    ['::ffff:10.2.2.3', false],
    ['', false],
  ])('contains %s: %s', (address, expected) => {
    expect(isTrusted(proxies, address)).toBe(expected);
  });

  it('may be empty and then trusts no proxy', () => {
    expect(parseTrustedProxies(' , ')).toBeNull();
  });

  it.each(['10.0.0.0/33', '10.0.0', 'proxy.example.com', '::1/129', '10.0.0.0/x', '10.0.0.0/'])('is refused if it contains %s', text => {
    expect(() => parseTrustedProxies(text)).toThrow(`"${text}" is neither`);
  });
});

describe('X-Forwarded headers', () => {
  const headers = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'ballast.example.com, inner' };

  it.each([
    ['from a trusted proxy set the address in links', '127.0.0.0/8', headers, 'https://ballast.example.com'],
    ['are ignored where no proxy is trusted', '', headers, null],
    ['from a client that is no trusted proxy are ignored', '192.0.2.1', headers, null],
    ['are ignored if they are not a scheme and a host', '127.0.0.1', { 'X-Forwarded-Proto': 'ftp', 'X-Forwarded-Host': 'a/b"c' }, null],
  ])('%s', async (_, trustedProxies, sent, address) => {
    const server = await startServer({ trustedProxies });
    expect((await server.get('/v1/builds', sent)).json.links.self).toBe(`${address ?? server.url}/v1/builds?page=1`);
  });
});

describe('the address of a client', () => {
  const proxies = parseTrustedProxies('10.0.0.0/8');

  it.each<[expected: string, socket: string, forwardedFor: string]>([
    ['192.0.2.1', '192.0.2.1', '198.51.100.7'],
    ['198.51.100.7', '10.0.0.1', '198.51.100.7'],
    ['198.51.100.7', '10.0.0.1', '203.0.113.9, 198.51.100.7, 10.0.0.2'],
    ['10.0.0.2', '10.0.0.1', '10.0.0.2'],
    ['10.0.0.1', '10.0.0.1', ''],
    ['10.0.0.1', '10.0.0.1', '198.51.100.7, no address'],
    ['2001:db8::1', '10.0.0.1', '2001:db8::1'],
  ])('is %s for the socket %s and X-Forwarded-For: %s', (expected, socket, forwardedFor) => {
    expect(clientAddress(socket, forwardedFor, proxies)).toBe(expected);
  });

  it('is that of the socket if no proxy is trusted', () => {
    expect(clientAddress('10.0.0.1', '198.51.100.7', null)).toBe('10.0.0.1');
  });
});
