import { describe, expect, it } from 'vitest';
import { addressesOf } from '../../../../../src/server/store/postgresql/connection/address.js';
import { Database } from '../../../../../src/server/store/postgresql/connection/database.js';

describe('a URL', () => {
  it('names a database on each of its hosts', () => {
    const common = { database: 'x', user: 'a', password: 'b@c', isTls: true };
    expect(addressesOf('postgresql://a:b%40c@h1:5433,[::1]/x?sslmode=verify-full')).toEqual([
      { host: 'h1', port: 5433, ...common },
      { host: '::1', port: 5432, ...common },
    ]);
  });

  it('names a Unix socket, which has no TLS', () => {
    const socket = { host: '/run/postgresql', port: 5432, database: 'x', user: null, password: null, isTls: false };
    expect(addressesOf('postgres://%2Frun%2Fpostgresql/x?sslmode=verify-full')).toEqual([socket]);
  });

  it.each([
    ...['', 'ballast', 'mysql://db/x', 'postgres:///x', 'postgres://db', 'postgres://a:secret@db:0/x', 'postgres://a:secret@db:port/x'],
    ...['postgres://a:se/cret@db/x', 'postgres://a:secret%zz@db/x', 'postgres://a:secret@::1/x'],
  ])('%j names none', url => {
    expect(() => addressesOf(url)).toThrow(/^it must be like postgres:\/\/user@host:5432\/database, (?!.*secret)/);
  });

  it.each(['require', 'prefer', 'allow', 'no-verify', 'verify-ca', ''])('with sslmode=%s is refused', mode => {
    expect(() => addressesOf(`postgres://a:secret@db/x?sslmode=${mode}`)).toThrow(/write sslmode=verify-full(?!.*secret)/);
  });

  it('with another parameter is refused', () => {
    expect(() => addressesOf('postgres://db/x?sslmode=verify-full&host=other')).toThrow('it has the parameter "host": leave that out');
  });

  it.each([
    ['postgres://db/x', null, 'db'],
    ['postgres://localhost,10.0.0.1/x?sslmode=disable', null, '10.0.0.1'],
    ['postgres://db/x?sslmode=verify-full', null, null],
    ['postgres://db/x', '/ca.pem', null],
    ['postgres://localhost,127.0.0.1,[::1],%2Frun/x', null, null],
  ])('%s with the certificate %s sends what others can read to %s', (url, ca, host) => {
    expect(new Database({ url, ca, connections: 1 }).plainHost).toBe(host);
  });

  it('that forbids TLS has no certificate', () => {
    expect(() => new Database({ url: 'postgres://db/x?sslmode=disable', ca: '/ca.pem', connections: 1 })).toThrow(
      'it says sslmode=disable',
    );
  });
});
