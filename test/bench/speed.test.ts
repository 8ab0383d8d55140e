import { describe, expect, it } from 'vitest';
import { initializing } from '../../bench/initializing.js';
import { isolation } from '../../bench/isolation.js';
import { memory } from '../../bench/memory.js';
import { neighbours } from '../../bench/neighbours.js';
import type { Result } from '../../bench/results.js';
import { soak } from '../../bench/soak.js';
import { starting } from '../../bench/starting.js';
import { whatIf } from '../../bench/what-if.js';

/** Runs the trials of speed with a minimal load. */
describe('the benchmark of speed', () => {
  it('initialises queues and splits of files that were never measured and of measured ones', async () => {
    const [result] = await initializing({ times: 1, sizes: [[1000, 4]] });
    expect(column(result!, 'timings')).toEqual([...Array<string>(6).fill('none'), ...Array<string>(4).fill('known')]);
    for (const name of ['median ms', 'max ms', 'JSON.parse ms', 'ratio']) {
      for (const cell of column(result!, name)) expect(Number(cell)).toBeGreaterThan(0);
    }
  });

  it('plays a suite with several numbers of nodes', async () => {
    const [result] = await whatIf({ times: 1, files: 10, nodes: 2 });
    expect(result!.rows.map(([request, mode]) => [request, mode])).toEqual([
      ['POST /v1/plan', 'queue'],
      ['GET what_if', 'queue'],
      ['POST /v1/plan', 'split'],
      ['GET what_if', 'split'],
    ]);
    for (const cell of column(result!, 'median ms')) expect(Number(cell)).toBeGreaterThan(0);
  });

  it('measures the event loop while large suites arrive', async () => {
    const [result] = await isolation({ seconds: 0.2, pullsPerSecond: 100, files: 100 });
    const [idle, pulls, all] = column(result!, 'pulls').map(Number);
    expect(idle).toBe(0);
    expect(pulls).toBeGreaterThan(0);
    expect(all).toBeGreaterThan(0);
    for (const name of ['initialised', 'recorded']) {
      const [withoutLoad, withPulls, withLargeSuites] = column(result!, name).map(Number);
      expect([withoutLoad, withPulls]).toEqual([0, 0]);
      expect(withLargeSuites).toBeGreaterThan(0);
    }
    for (const cell of column(result!, 'server delay ms')) expect(parseFloat(cell)).toBeGreaterThanOrEqual(0);
  });

  it('measures the pulls of a project while another sends its largest requests', async () => {
    const [result] = await neighbours({ chosen: ['cases', 'piece', 'sign-in'], seconds: 0.2, loops: 1, pullsPerSecond: 50 });
    expect(column(result!, 'requests')).toEqual(['none', 'cases', 'piece', 'sign-in']);
    const p99s = result!.rows.flatMap(row => row.filter((_, i) => result!.head[i] === 'pulls p99 ms')).filter(cell => cell !== '');
    expect(p99s).toHaveLength(7);
    // A ratio of so few pulls may be rounded to zero.
    for (const cell of p99s) expect(Number(cell)).toBeGreaterThan(0);
  });

  it('measures the start with an empty folder and with a full one', async () => {
    const [result] = await starting({ builds: 50, times: 1 });
    expect(column(result!, 'folder')).toEqual(['node -e 0', 'empty', '50 builds, 1 open queues']);
    for (const cell of column(result!, 'median ms')) expect(Number(cell)).toBeGreaterThan(0);
  });

  it.runIf(process.platform === 'linux')('measures the memory of a server with open queues', async () => {
    const [result] = await memory({ queues: 2, files: 20, settleSeconds: 0.1 });
    expect(column(result!, 'queue cache')).toEqual(['default', '32 MiB']);
    for (const cell of result!.rows.flatMap(row => row.slice(1))) expect(Number(cell)).toBeGreaterThan(0);
  });

  it.runIf(process.platform === 'linux')('measures memory during a mixed load', async () => {
    const [result] = await soak({ minutes: 0.005, files: 20, queues: 2 });
    expect(result!.rows.map(([name]) => name)).toEqual(['all', 'anonymous', 'of files']);
    for (const cell of column(result!, 'max MiB')) expect(Number(cell)).toBeGreaterThan(0);
  });
});

function column({ head, rows }: Result, name: string): string[] {
  const at = head.indexOf(name);
  expect(at).not.toBe(-1);
  return rows.map(row => row[at]!);
}
