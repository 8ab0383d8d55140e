import { describe, expect, it } from 'vitest';
import { leftOutText, nodesSentence } from '../../../../src/dashboard/pages/nodes/sentences.js';
import type { NodeTrend } from '../../../../src/protocol/answers/trends.js';

describe('the first line of the nodes', () => {
  const builds = Array.from({ length: 20 }, (_, i) => ({ build_id: String(i), at: '', commit_hash: '' }));
  const node = (node_index: number, slow_builds: number): NodeTrend => ({
    node_index,
    slowness: builds.map(() => 1),
    median: 1,
    is_slow: slow_builds > 10,
    slow_builds,
    last_builds: 0,
  });

  it('names slow runners', () => {
    expect(nodesSentence({ builds, nodes: [node(0, 1), node(3, 18)] })).toBe(
      'Node 3 was slow in 18 of 20 builds: the runner, not the split.',
    );
    expect(nodesSentence({ builds, nodes: [node(0, 20), node(3, 18)] })).toBe(
      'Node 0 was slow in 20 of 20 builds, node 3 was slow in 18 of 20 builds: the runners, not the split.',
    );
    expect(nodesSentence({ builds, nodes: [node(0, 1)] })).toBe('No node was slow again and again in the last 20 builds.');
    expect(nodesSentence({ builds: [], nodes: [] })).toBe('No build was measured yet.');
  });
});

describe('the builds that the page of the nodes leaves out', () => {
  it.each([
    [0, [], ''],
    [1, [1], '; 1 build with 1 node is left out'],
    [3, [12, 16], '; 3 builds with 12 and 16 nodes are left out'],
    [9, [4, 5, 8, 24], '; 9 builds with 4 to 24 nodes are left out'],
  ])('are named by their numbers of nodes: %i builds with %j', (left_out, other_node_totals, text) => {
    expect(leftOutText({ left_out, other_node_totals })).toBe(text);
  });
});
