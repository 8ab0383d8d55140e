import { Option } from 'commander';
import { describe, expect, it } from 'vitest';
import { type Config, parseConfig, settings } from '../../src/server/settings.js';
import { UsageError } from '../../src/usage-error.js';

describe('a setting', () => {
  it.each<[keyof Config, text: string, value: unknown]>([
    ['host', '::', '::'],
    ['host', '[::1]', '::1'],
    ['host', 'unix:/run/b s.sock', 'unix:/run/b s.sock'],
    ['port', '0', 0],
    ['headerPrefixes', 'service, Knapsack-Pro', ['SERVICE', 'KNAPSACK-PRO']],
    ['publicUrl', 'https://ballast.example.com/', 'https://ballast.example.com'],
    ['publicUrl', 'http://localhost:8080/ci//', 'http://localhost:8080/ci'],
    ['publicUrl', '', null],
    ['pullCostSeconds', '0.5', 0.5],
    ['clientVersions', '', new Map()],
    [
      'clientVersions',
      '@knapsack-pro/jest = 9.0.0 ,b=7',
      new Map([
        ['@knapsack-pro/jest', '9.0.0'],
        ['b', '7'],
      ]),
    ],
    ['bootstrapToken', '', null],
  ])('%s may be "%s"', (name, text, value) => {
    expect(parseConfig({ [name]: text })[name]).toEqual(value);
  });

  it.each<[keyof Config, texts: string[]]>([
    ['host', ['', 'a b', 'http://a', 'unix:b.sock', 'unix:', `unix:/${'b'.repeat(100)}`, '[x]']],
    ['port', ['tcp://10.0.0.1:8080', '', '-1', '65536', '80.5', 'http']],
    ['dataDir', ['']],
    ['headerPrefixes', ['', 'A,,B', 'A B', 'SERVICE-', 'X:Y']],
    ['publicUrl', ['ballast', 'ftp://a', 'https://a?b=c', 'https://a#b']],
    ['retentionDays', ['0', '1.5', '36501', 'ever']],
    ['pullCostSeconds', ['', '0', '-1', '601', 'NaN', 'Infinity']],
    ['maxBodyBytes', ['0', '1023', '1e12', '32MB']],
    ['queueCacheBytes', ['0', '1e15']],
    ['workers', ['0', '65', '1.5']],
    ['clientVersions', ['a', 'a=', '=1', 'a=next']],
    ['logLevel', ['', 'verbose', 'INFO']],
    ['bootstrapToken', ['short', 'x'.repeat(31), 'x'.repeat(257), `${'x'.repeat(31)} x`, `${'x'.repeat(40)}\n`]],
  ])('%s may not be any of %j', (name, texts) => {
    for (const text of texts) {
      const parse = () => parseConfig({ [name]: text });
      expect(parse).toThrow(UsageError);
      // A secret must not appear on a screen or in a log.
      const value = name === 'bootstrapToken' ? expect.not.stringContaining(text) : expect.stringContaining(` is "${text}"`);
      for (const sentence of [expect.stringMatching(new RegExp(`^${settings[name].env}.*: it must `, 's')), value])
        expect(parse).toThrow(expect.objectContaining({ errors: [sentence] }));
    }
  });

  it('for the admin address needs a port, unless it is a Unix socket', () => {
    expect(() => parseConfig({ adminHost: '::1' })).toThrow(
      'BALLAST_ADMIN_HOST (--admin-host) is given without BALLAST_ADMIN_PORT (--admin-port)',
    );
    expect(parseConfig({ adminHost: '::1', adminPort: '0' }).adminPort).toBe(0);
    expect(parseConfig({ adminHost: 'unix:/run/b.sock' }).adminPort).toBe(0);
    expect(parseConfig({}).adminPort).toBeNull();
  });

  it('has the same name as a flag, as a variable and in the code', () => {
    for (const [name, { flag, env }] of Object.entries(settings)) {
      if (flag) expect(new Option(flag).attributeName()).toBe(name);
      expect(env).toBe(`BALLAST_${name.replace(/[A-Z]/g, letter => `_${letter}`).toUpperCase()}`);
    }
  });

  it('has a valid default', () => {
    expect(parseConfig({})).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      headerPrefixes: ['SERVICE', 'KNAPSACK-PRO'],
      retentionDays: 90,
      maxBodyBytes: 33_554_432,
      bootstrapToken: null,
    });
  });
});
