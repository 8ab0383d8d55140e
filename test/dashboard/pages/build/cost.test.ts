import { describe, expect, it } from 'vitest';
import { costSentence } from '../../../../src/dashboard/pages/build/cost.js';
import type { NodeSummary } from '../../../../src/protocol/answers/minutes.js';
import { costOf, type PriceSettings } from '../../../../src/protocol/price.js';
import { noSettings } from '../../../../src/protocol/project-settings.js';

const settings = { ...noSettings, price: { amount: 0.5, currency: 'USD' } };
const node = (end: number | null) => ({ start: end === null ? null : 3, end: end === null ? null : end + 3 }) as NodeSummary;
const said = (ends: (number | null)[], asked: PriceSettings = settings, is_running = false) => {
  const price = costOf(
    asked,
    ends.filter(end => end !== null),
  );
  return costSentence({ nodes: ends.map(node), price, is_running }, asked);
};

describe('what a build cost', () => {
  it('is a sentence about its nodes and the minutes that are paid', () => {
    expect(said([1800, 1860])).toBe('This build cost $30.50: 2 nodes, 61 paid minutes.');
    expect(said([90])).toBe('This build cost $0.75: 1 node, 1.5 paid minutes.');
    expect(said([90], { ...settings, setup: 20, billing_step: 60 })).toBe('This build cost $1.00: 1 node, 2 paid minutes.');
    expect(said([60])).toBe('This build cost $0.50: 1 node, 1 paid minute.');
  });

  it('does not count a node that never started', () => {
    expect(said([600, null])).toBe('This build cost $5.00: 1 node, 10 paid minutes.');
  });

  it('is what it cost so far while it runs', () => {
    expect(said([600], settings, true)).toBe('This build has cost $5.00 so far: 1 node, 10 paid minutes.');
  });

  it('is no sentence without a price', () => {
    expect(said([600], noSettings)).toBe(null);
  });
});
