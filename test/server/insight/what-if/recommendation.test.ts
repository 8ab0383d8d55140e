import { describe, expect, it } from 'vitest';
import type { NodeCount } from '../../../../src/protocol/answers/what-if.js';
import { recommendationOf } from '../../../../src/server/insight/what-if/recommendation.js';

const USUAL = 8;
const countOf = (nodes: number, median_wall: number, within: number | null = null): NodeCount => ({
  ...{ nodes, median_wall, within, p90_wall: median_wall, job_seconds: 6000 + 10 * nodes, price: null },
});
const priced = (nodes: number, within: number, amount: number) => ({ ...countOf(nodes, 600, within), price: { amount, currency: 'USD' } });
const asItWas = { mode: null, inPieces: null };

interface Situation {
  counts?: NodeCount[];
  builds?: number;
  target?: number | null;
  recommended?: number;
  bound?: { nodes: number; path: string };
  changes?: { mode: 'queue' | 'split' | null; inPieces: boolean | null };
  missed?: number[];
}

const timed = [countOf(4, 1260), countOf(8, 680), countOf(20, 302), countOf(39, 200)];
const counted = [countOf(4, 1260, 0), countOf(8, 680, 1), countOf(20, 302, 9), countOf(39, 200, 10)];

/** The sentence and the remarks on ten builds with usually 8 nodes. */
const textsOf = ({ builds = 10, target = 600, counts = counted, recommended = 20, bound, changes, missed = [] }: Situation) => {
  const line = { build_id: '', commit_hash: '', at: '', node_count: USUAL, wall: 680 };
  const { sentence, remarks } = recommendationOf(
    {
      ...{ branch: 'main', target, counts, left_out: 0, usual_nodes: USUAL, recommended, bound: bound ?? null },
      builds: Array.from({ length: builds }, () => line),
    },
    { changes: changes ?? asItWas, spent: { days: 12, price: null }, enough: Math.ceil(0.9 * builds), missed },
  );
  return [sentence, ...remarks];
};

const MORE = '20 nodes take 2 % more node-minutes than 8.';
const DECIDES = { nodes: 20, path: 'a_spec.rb' };

describe('the number of nodes that is recommended', () => {
  it.each<[string, Situation, string[]]>([
    ['says how many builds end in time', {}, ['20 nodes: 9 of 10 builds would end within 10 m 00 s; the usual 8 nodes: 1 of 10.', MORE]],
    [
      'says that the usual number is enough, and the next lower one is not',
      { counts: [countOf(4, 1260, 0), countOf(8, 580, 9)], recommended: 8 },
      ['The usual 8 nodes: 9 of 10 builds would end within 10 m 00 s; 4 nodes: 0 of 10.'],
    ],
    [
      'speaks of the way in which the builds are played',
      { changes: { mode: 'split', inPieces: true } },
      ['20 nodes: 9 of 10 builds as a split with long files in pieces would end within 10 m 00 s; the usual 8 nodes: 1 of 10.', MORE],
    ],
    [
      'costs nothing that was spent if the builds ran otherwise',
      { counts: [priced(8, 1, 1.2), priced(20, 9, 1.5)], changes: { mode: 'split', inPieces: null } },
      [
        '20 nodes: 9 of 10 builds as a split would end within 10 m 00 s; the usual 8 nodes: 1 of 10.',
        'A build costs $1.50 on 20 nodes, and $1.20 on 8.',
      ],
    ],
    [
      'names builds that really took longer',
      { missed: [748, 620] },
      [
        '20 nodes: 9 of 10 builds would end within 10 m 00 s; the usual 8 nodes: 1 of 10.',
        '2 of them really took longer as they ran, up to 12 m 28 s: chance, such as a restart, is not played.',
        MORE,
      ],
    ],
    [
      'says no more of what builds really took than of builds that ran otherwise',
      { missed: [748], changes: { mode: 'split', inPieces: null } },
      ['20 nodes: 9 of 10 builds as a split would end within 10 m 00 s; the usual 8 nodes: 1 of 10.', MORE],
    ],
    [
      'rests on few builds',
      { builds: 2, counts: [countOf(8, 680, 0), countOf(20, 302, 2)] },
      ['20 nodes: 2 of 2 builds would end within 10 m 00 s; the usual 8 nodes: 0 of 2.', 'Only 2 builds could be played.', MORE],
    ],
    [
      'is not enough, because of one file',
      { counts: [countOf(8, 680, 0), countOf(20, 602, 3)], bound: DECIDES },
      [
        'No number up to 20 nodes is enough. 20 nodes: 3 of 10 builds would end within 10 m 00 s; the usual 8 nodes: 0 of 10.',
        'On 20 nodes, a_spec.rb alone decides when a build ends.',
        MORE,
      ],
    ],
    [
      'says where more bring little when no target is set',
      { target: null, counts: timed },
      ['The median build would end in 11 m 20 s on the usual 8 nodes and in 5 m 02 s on 20 nodes, beyond which more bring little.', MORE],
    ],
    [
      'is the usual one without a target',
      { target: null, counts: timed, recommended: 8, bound: DECIDES },
      [
        'The median build would end in 21 m 00 s on 4 nodes and in 11 m 20 s on the usual 8 nodes, beyond which more bring little.',
        'From 20 nodes on, a_spec.rb alone decides when a build ends.',
      ],
    ],
    [
      'is the last one that was played without a target',
      { target: null, counts: timed, recommended: 39 },
      [
        'The median build would end in 11 m 20 s on the usual 8 nodes and in 3 m 20 s on 39 nodes.',
        '39 nodes take 5 % more node-minutes than 8.',
        'More may be worth their jobs, too.',
      ],
    ],
  ])('%s', (_, situation, texts) => {
    expect(textsOf(situation)).toEqual(texts);
  });
});
