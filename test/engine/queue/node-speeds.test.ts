import { describe, expect, it } from 'vitest';
import { NodeSpeeds } from '../../../src/engine/queue/node-speeds.js';

const NOW = Date.UTC(2026, 0, 1);
const SECOND = 10_000;

const paceOf = (nodeTotal: number, pullCost: number) => new NodeSpeeds({ nodeTotal, pullCost, isGuessed: false });

/** A node asks after so many seconds, and gets a batch of so many predicted seconds. */
function pull(pace: NodeSpeeds, node: number, seconds: number, predicted: number, starts = false): void {
  pace.recordPull(node, starts, NOW + seconds * 1000);
  pace.recordBatch(node, predicted * SECOND, NOW + seconds * 1000);
}

/** Seconds of what is left that are the node's. */
const share = (pace: NodeSpeeds, node: number, left: number, seconds: number) =>
  pace.situationOf(node, left * SECOND, NOW + seconds * 1000).share / SECOND;

describe('the share of a node', () => {
  it('is even as long as nobody has anything, whoever came', () => {
    const pace = paceOf(4, 0);
    expect(share(pace, 0, 400, 0)).toBeCloseTo(100);
    pace.recordPull(2, false, NOW);
    expect(share(pace, 2, 400, 0)).toBeCloseTo(100);
  });

  it('is larger while the others still work', () => {
    const pace = paceOf(2, 0);
    pull(pace, 0, 0, 100);
    expect(share(pace, 1, 60, 0)).toBeCloseTo(60);
    expect(share(pace, 1, 140, 0)).toBeCloseTo(120);
  });

  it('leaves out what a pull costs', () => {
    const pace = paceOf(2, 10 * SECOND);
    pull(pace, 0, 0, 100);
    // Both end 175 s from now: 100 s and two pulls of the one, one pull of the other.
    expect(share(pace, 1, 220, 0)).toBeCloseTo(165);
  });

  it('is larger for a node that was faster than the others', () => {
    const pace = paceOf(2, 0);
    pull(pace, 0, 0, 100);
    pull(pace, 1, 0, 100);
    pace.recordPull(0, false, NOW + 80_000);
    pace.recordPull(1, false, NOW + 120_000);
    const [fast, slow] = [share(pace, 0, 100, 120), share(pace, 1, 100, 120)];
    expect(fast + slow).toBeCloseTo(100);
    expect(fast / slow).toBeCloseTo(1.5, 1);
  });

  it('does not follow one odd batch far', () => {
    const pace = paceOf(2, 0);
    pull(pace, 0, 0, 100);
    pull(pace, 1, 0, 100);
    pace.recordPull(0, false, NOW + 10_000);
    pace.recordPull(1, false, NOW + 1_000_000);
    const [fast, slow] = [share(pace, 0, 100, 1000), share(pace, 1, 100, 1000)];
    expect(fast / slow).toBeLessThanOrEqual(1.5 * 1.5 + 1e-9);
  });

  it('counts on nodes that have not come the less the longer they stay away', () => {
    const shareAfter = (seconds: number) => {
      const pace = paceOf(8, 0);
      pull(pace, 3, 0, seconds);
      pace.recordPull(3, false, NOW + seconds * 1000);
      return share(pace, 3, 800, seconds);
    };
    expect(shareAfter(0)).toBeCloseTo(100);
    expect(shareAfter(100)).toBeGreaterThan(150);
    expect(shareAfter(800)).toBeCloseTo(800);
  });

  it('counts on a node that is overdue the less the longer it is', () => {
    const pace = paceOf(2, 0);
    pull(pace, 0, 0, 10);
    pull(pace, 1, 0, 10);
    pace.recordPull(0, false, NOW + 10_000);
    expect(share(pace, 0, 100, 10)).toBeCloseTo(50, 0);
    expect(share(pace, 0, 100, 15)).toBeCloseTo(52.5, 0);
    expect(share(pace, 0, 100, 20)).toBeCloseTo(55, 0);
  });

  it('counts on a node that is overdue after no longer than its batch was to take', () => {
    const pace = paceOf(2, 0);
    pull(pace, 0, 0, 10);
    pull(pace, 1, 0, 10);
    pace.recordPull(0, false, NOW + 10_000);
    expect(share(pace, 0, 100, 3600)).toBeCloseTo(55, 0);
    expect(share(pace, 0, 5, 3600)).toBeCloseTo(5);
  });

  it('takes nothing from what a node had before it started again', () => {
    const pace = paceOf(2, 0);
    pull(pace, 0, 0, 100);
    pull(pace, 1, 0, 100);
    pull(pace, 0, 10, 100, true);
    pull(pace, 1, 100, 100);
    pull(pace, 0, 110, 100);
    expect(share(pace, 0, 1000, 200)).toBeCloseTo(share(pace, 1, 1000, 200), 0);
  });

  it('counts on all nodes again when one starts again after a pause', () => {
    const pace = paceOf(4, 0);
    for (const node of [0, 1, 2, 3]) pull(pace, node, 0, 100, true);
    pace.recordPull(0, true, NOW + 3_600_000);
    expect(share(pace, 0, 400, 3600)).toBeCloseTo(100);
    expect(pace.situationOf(0, 400 * SECOND, NOW + 3_600_000).batches).toBe(0);
  });

  it('takes nothing from a batch that the node never got', () => {
    const pace = paceOf(2, 0);
    pull(pace, 0, 0, 100);
    pace.discardBatch(0);
    pace.recordPull(0, false, NOW + 1000);
    expect(share(pace, 0, 100, 1)).toBeCloseTo(50, -1);
    expect(pace.situationOf(0, SECOND, NOW + 1000).batches).toBe(0);
  });

  it('takes the cost of a pull as it was set while times are only guessed', () => {
    const pace = new NodeSpeeds({ nodeTotal: 2, pullCost: 2 * SECOND, isGuessed: true });
    for (let batch = 0; batch < 10; batch++) pull(pace, 0, 20 * batch, 1);
    expect(pace.situationOf(0, SECOND, NOW + 200_000).pullCost).toBeCloseTo(2 * SECOND);
  });

  it('is even between nodes that are no node of the queue and those that are', () => {
    expect(share(paceOf(2, 0), 7, 100, 0)).toBeCloseTo(50);
  });
});

describe('a queue whose nodes take no time by the server’s clock', () => {
  it('takes the order of the pulls for the time', () => {
    const pace = paceOf(2, 0);
    pull(pace, 0, 0, 100);
    pull(pace, 1, 0.001, 300);
    // Node 0 is done with 100 s, node 1 not yet with 300 s: 200 s are left to it.
    pace.recordPull(0, false, NOW + 2);
    expect(share(pace, 0, 150, 0.002)).toBeCloseTo(150);
    expect(share(pace, 0, 300, 0.002)).toBeCloseTo(250);
  });

  it('counts on a node that never comes the less the longer the others worked', () => {
    const pace = paceOf(2, 0);
    for (let batch = 0; batch < 10; batch++) pull(pace, 0, batch / 1000, 100);
    pace.recordPull(0, false, NOW + 10);
    expect(share(pace, 0, 900, 0.01)).toBeCloseTo(900);
  });
});
