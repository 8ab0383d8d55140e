import { expect, it } from 'vitest';
import { usualNodeTotal } from '../../src/protocol/usual-nodes.js';

const of = (...totals: number[]) => usualNodeTotal(totals.map(node_total => ({ node_total })));

it('the usual number of nodes is the most common one, of any that are as common the newest', () => {
  expect(of(2, 4, 4, 8, 4, 8)).toBe(4);
  expect(of(3, 8, 4, 8, 4)).toBe(8);
  expect(of()).toBeNull();
});
