import { describe, expect, it } from 'vitest';
import { NodeSpeeds } from '../../../../src/server/engine/queue/node-speeds.js';

const NOW = Date.UTC(2026, 0, 1);
const SECOND = 10_000;

const speedsOf = (nodeTotal: number, pullCost: number, isGuessed = false) => new NodeSpeeds({ nodeTotal, pullCost, isGuessed }, 5 * SECOND);

/** A node pulls at a time in seconds, and gets a batch of a predicted duration in seconds. */
function pull(speeds: NodeSpeeds, node: number, seconds: number, predicted: number, isFirstRequest = false): void {
  speeds.recordPull(node, isFirstRequest, NOW + seconds * 1000);
  speeds.recordBatch(node, 1, predicted * SECOND, NOW + seconds * 1000);
}

/** The node's share of the remaining seconds of estimates. */
function share(speeds: NodeSpeeds, node: number, left: number, seconds: number): number {
  const situation = speeds.situationOf(node, 1, left * SECOND, NOW + seconds * 1000);
  return (situation.share / situation.remaining) * left;
}

describe('the share of a node', () => {
  it('counts less on an overdue node the longer it is overdue', () => {
    const speeds = speedsOf(2, 0);
    pull(speeds, 0, 0, 10);
    pull(speeds, 1, 0, 10);
    speeds.recordPull(0, false, NOW + 10_000);
    const shares = [10, 12, 15, 20].map(seconds => share(speeds, 0, 100, seconds));
    for (const [i, each] of shares.slice(1).entries()) expect(each).toBeGreaterThan(shares[i]!);
    expect(shares[3]).toBeLessThan(65);
    // A clock that was set back tells nothing of the node that works.
    const slowdownAt = (seconds: number) => speeds.situationOf(0, 1, SECOND, NOW + 1000 * seconds).slowdown;
    expect(slowdownAt(-1)).toBe(slowdownAt(5));
  });

  it('ignores the batch that a node had when it restarted', () => {
    const speeds = speedsOf(2, 0);
    pull(speeds, 0, 0, 100);
    pull(speeds, 1, 0, 100);
    pull(speeds, 0, 10, 100, true);
    pull(speeds, 1, 100, 100);
    pull(speeds, 0, 110, 100);
    expect(share(speeds, 0, 1000, 200)).toBeCloseTo(share(speeds, 1, 1000, 200), 0);
  });

  it('counts on all nodes when one restarts after a pause', () => {
    const speeds = speedsOf(4, 0);
    for (const node of [0, 1, 2, 3]) pull(speeds, node, 0, 100, true);
    speeds.recordPull(0, true, NOW + 3_600_000);
    expect(share(speeds, 0, 400, 3600)).toBeCloseTo(100);
    expect(speeds.situationOf(0, 1, 400 * SECOND, NOW + 3_600_000).batches).toBe(0);
  });

  it('ignores a batch that never reached the node', () => {
    const speeds = speedsOf(2, 0);
    pull(speeds, 0, 0, 100);
    speeds.discardBatch(0);
    speeds.recordPull(0, false, NOW + 1000);
    expect(share(speeds, 0, 100, 1)).toBeCloseTo(50, -1);
    expect(speeds.situationOf(0, 1, SECOND, NOW + 1000).batches).toBe(0);
  });

  it('counts the time of its files that reports do not tell', () => {
    const speeds = speedsOf(2, 0);
    let seconds = 0;
    for (let batch = 0; batch < 8; batch++) {
      // Each file takes three seconds more than reports tell.
      const [files, predicted] = batch % 2 === 0 ? [1, 20] : [8, 4];
      for (const node of [0, 1]) {
        speeds.recordPull(node, batch === 0, NOW + 1000 * seconds);
        speeds.recordBatch(node, files, predicted * SECOND, NOW + 1000 * seconds);
      }
      seconds += predicted + 3 * files;
    }
    for (const node of [0, 1]) speeds.recordPull(node, false, NOW + 1000 * seconds);
    const situation = speeds.situationOf(0, 100, 50 * SECOND, NOW + 1000 * seconds);
    expect(situation.remaining / SECOND).toBeGreaterThan(190);
    expect(situation.remaining / SECOND).toBeLessThan(350);
    expect(situation.share).toBeCloseTo(situation.remaining / 2, -4);
  });
});
