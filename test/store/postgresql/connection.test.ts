import { expect, inject, it } from 'vitest';
import { urlsOf } from '../../../src/store/postgresql/connection.js';

it('PostgreSQL runs for the tests of stores', ({ skip }) => {
  skip(inject('postgresql') === null, 'NOT TESTED: the store in PostgreSQL, because this machine has no programs of it');
});

it.each([
  ['postgres://ballast@db/ballast', ['postgres://ballast@db/ballast']],
  [
    'postgresql://a:b%40c@h1:5433,h2/x?sslmode=verify-full',
    ['postgresql://a:b%40c@h1:5433/x?sslmode=verify-full', 'postgresql://a:b%40c@h2/x?sslmode=verify-full'],
  ],
])('%s names a database on each of its hosts', (url, urls) => {
  expect(urlsOf(url)).toEqual(urls);
});

it.each(['', 'ballast', 'mysql://db/x', 'postgres:///x', 'postgres://db'])('%j names none', url => {
  expect(() => urlsOf(url)).toThrow('it must be like postgres://user@host:5432/database');
});
