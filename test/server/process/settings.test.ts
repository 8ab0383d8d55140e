import { Option } from 'commander';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../src/base/usage-error.js';
import { type Config, parseConfig, settings } from '../../../src/server/process/settings.js';

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
    ['snapshotKeep', '1', 1],
    ['snapshotEvery', '', null],
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
    ['snapshotEvery', ['0', '6', '9m', '1.5h', '31d', '6 h', '3600s', '-1h', 'daily', '9999999m']],
    ['snapshotKeep', ['0', '1.5', 'all']],
    ['maxBodyBytes', ['0', '1023', '1e12', '32MB']],
    ['queueCacheBytes', ['0', '1e15']],
    ['workers', ['0', '65', '1.5']],
    ['clientVersions', ['a', 'a=', '=1', 'a=next']],
    ['logLevel', ['', 'verbose', 'INFO']],
    ['bootstrapToken', ['short', 'x'.repeat(31), 'x'.repeat(257), `${'x'.repeat(31)} x`, `${'x'.repeat(40)}\n`]],
  ])('%s may not be any of %j', (name, texts) => {
    for (const text of texts) {
      // An interval needs a folder, too.
      const parse = () => parseConfig({ ...(name === 'snapshotEvery' && { snapshotDir: '/mnt' }), [name]: text });
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

  it('for the interval of snapshots and the one for their folder are given together, and not with a database', () => {
    const both = { snapshotEvery: '90m', snapshotDir: '/mnt/snapshots' };
    expect(parseConfig(both)).toMatchObject({ snapshotEvery: 5_400_000, snapshotDir: '/mnt/snapshots', snapshotKeep: 7 });
    expect(() => parseConfig({ snapshotEvery: '6h' })).toThrow(
      'BALLAST_SNAPSHOT_EVERY (--snapshot-every) is given without BALLAST_SNAPSHOT_DIR (--snapshot-dir): name a folder',
    );
    expect(() => parseConfig({ snapshotDir: '/mnt' })).toThrow(
      'BALLAST_SNAPSHOT_DIR (--snapshot-dir) is given without BALLAST_SNAPSHOT_EVERY (--snapshot-every): say how often',
    );
    const databaseUrl = 'postgres://db/ballast';
    for (const given of [both, { snapshotEvery: '6h' }, { snapshotDir: '/mnt' }])
      expect(() => parseConfig({ ...given, databaseUrl })).toThrow(
        / is given with BALLAST_DATABASE_URL: snapshots are of a folder; back up the database with its own tools, such as pg_dump$/,
      );
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
