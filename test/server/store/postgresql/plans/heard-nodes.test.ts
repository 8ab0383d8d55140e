import { describe, expect, it, onTestFinished } from 'vitest';
import type { OpenQueue } from '../../../../../src/server/engine/ports/queues.js';
import { HeardNodes } from '../../../../../src/server/store/postgresql/plans/heard-nodes.js';
import { openPostgresqlStore } from '../../../../../src/server/store/postgresql/store.js';
import { cluster, emptyDatabase } from '../../../../harness/postgresql-store.js';

const SILENCE = 90_000;

/** A process of a database, which heard of nodes of the queue "q" at these uptimes. */
async function processOf(url: string, uptime: number, heard: [node: number, at: number][]): Promise<HeardNodes> {
  const store = await openPostgresqlStore({ url, connections: 2, mayMigrate: true });
  const lease = { silenceMilliseconds: SILENCE, factor: 0, graceMilliseconds: 0, uptime: () => uptime, uptimeAt: () => uptime };
  const queue = { heardSince: (since: number) => heard.filter(([, at]) => at > since) };
  const nodes = new HeardNodes(store.database, () => [{ id: 'q', queue } as unknown as OpenQueue], lease);
  onTestFinished(async () => {
    await nodes.close();
    await store.close();
  });
  return nodes;
}

describe.skipIf(cluster === null)('what a process heard of nodes', () => {
  it('is known to the others, by their clocks, but not what it heard too long ago, and nothing of other queues', async () => {
    const url = await emptyDatabase();
    const first = await processOf(url, 500_000, [
      [3, 480_000],
      [4, 500_000 - SILENCE - 1],
    ]);
    const second = await processOf(url, 7_000_000, []);
    await first.publish();
    await second.publish();
    const [[node, at] = []] = await second.elsewhere('q');
    expect(node).toBe(3);
    // The database takes some time, too.
    expect(at).toBeLessThanOrEqual(6_980_000);
    expect(at).toBeGreaterThan(6_970_000);
    expect([await first.elsewhere('q'), await second.elsewhere('another')]).toEqual([[], []]);
  });
});
