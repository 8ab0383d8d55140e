import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Database } from '../../../../../src/server/store/postgresql/connection/database.js';
import { lookUp } from '../../../../../src/server/store/postgresql/connection/look-up.js';
import { analyzeGrown, keepStatistics } from '../../../../../src/server/store/postgresql/connection/statistics.js';
import { PATHS_PER_CHANGE, Paths } from '../../../../../src/server/store/postgresql/paths.js';
import { cluster, copiedDatabase } from '../../../../harness/postgresql-store.js';
import { NOW, upTo } from '../../contract/fixtures.js';

const FEW = 10;
const MANY = 20 * PATHS_PER_CHANGE;
const pathsUpTo = (count: number) => upTo(count).map(i => `spec/${i}_spec.rb`);

/** A database that looks at no table by itself, and some paths in it. */
async function opened() {
  const database = new Database({ url: await copiedDatabase(), connections: 1 });
  onTestFinished(() => database.close());
  await database.change('alter table paths set (autovacuum_enabled = false)');
  const paths = new Paths(database);
  const statistics = async () =>
    (await database.read<{ pages: number }>(`select relpages as pages from pg_class where relname = 'paths'`))[0]!.pages;
  /** Looks a path up by its number. Returns how many rows of the table were read one after another for that. */
  const scannedFor = async (number: number) => {
    const scanned = `select seq_tup_read as rows from pg_stat_xact_user_tables where relname = 'paths'`;
    const text = `with before as materialized (${scanned}), found as materialized (${lookUp('number', 'paths', 'number', 'int4')}),
      read as materialized (select count(*) as rows from found where (select rows from before) >= 0)
      select (${scanned} and (select rows from read) = 1) - (select rows from before) as scanned`;
    return (await database.read<{ scanned: number }>(text, [[number]]))[0]!.scanned;
  };
  return { database, paths, statistics, scannedFor };
}

describe.skipIf(cluster === null)('a table that grows from some rows, which the database looked at, to many', () => {
  it('is looked at again, so that statements get other plans', async () => {
    const { database, paths, statistics, scannedFor } = await opened();
    await paths.intern(1, pathsUpTo(FEW), NOW);
    await database.change('analyze paths');
    const few = await statistics();
    // A connection keeps a plan from the sixth time on.
    for (const _ of upTo(7)) expect(await scannedFor(FEW)).toBe(FEW);
    await paths.intern(1, pathsUpTo(MANY), NOW);
    expect(await scannedFor(MANY)).toBe(MANY);
    await analyzeGrown(database);
    expect(await statistics()).toBeGreaterThan(few);
    expect(await scannedFor(MANY)).toBe(0);
  });

  it('is left alone while it has few pages, and when it has not doubled', async () => {
    const { database, paths, statistics } = await opened();
    await paths.intern(1, pathsUpTo(FEW), NOW);
    await analyzeGrown(database);
    expect(await statistics()).toBe(0);
    await paths.intern(1, pathsUpTo(MANY), NOW);
    await analyzeGrown(database);
    const pages = await statistics();
    expect(pages).toBeGreaterThan(0);
    await paths.intern(1, pathsUpTo(1.5 * MANY), NOW);
    await analyzeGrown(database);
    expect(await statistics()).toBe(pages);
  });
});

describe('tables that cannot be analyzed', () => {
  it('are tried less and less often, and each kind of error is told once; then they are looked at each second again', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let asked = 0;
    let code: string | null = '57014';
    const failed: unknown[] = [];
    const read = async () => {
      asked += 1;
      if (code !== null) throw Object.assign(new Error('no'), { code });
      return [];
    };
    const end = keepStatistics({ read } as never, error => failed.push(error));
    const askedIn = async (seconds: number) => {
      const before = asked;
      await vi.advanceTimersByTimeAsync(seconds * 1000);
      return asked - before;
    };
    expect([await askedIn(1), await askedIn(2), await askedIn(3), await askedIn(1)]).toEqual([1, 1, 0, 1]);
    expect(await askedIn(3600)).toBeLessThan(20);
    expect(failed).toEqual([expect.objectContaining({ code: '57014' })]);
    code = '42501';
    await askedIn(1200);
    expect(failed).toHaveLength(2);
    code = null;
    await askedIn(600);
    expect(await askedIn(60)).toBe(60);
    end();
    expect(await askedIn(60)).toBe(0);
  });

  it('do not keep smaller ones from being analyzed', async () => {
    const analyzed: string[] = [];
    const read = async (text: string) => {
      if (text.startsWith('select')) return [{ name: 'small' }, { name: 'large' }];
      if (text.endsWith('large')) throw new Error('took too long');
      analyzed.push(text);
      return [];
    };
    await expect(analyzeGrown({ read } as never)).rejects.toThrow('took too long');
    expect(analyzed).toEqual(['analyze (skip_locked) small']);
  });
});
