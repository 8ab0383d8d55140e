import { capitalized } from '../../../base/capitalized.js';
import { agree } from '../../../base/plural.js';
import type { NodeTrends } from '../../../protocol/answers/trends.js';
import { count, number } from '../../text/format.js';

/** Names the nodes that are slow again and again: "Node 3 was slow in 18 of 20 builds: the runner, not the split." */
export function nodesSentence({ nodes, builds }: Pick<NodeTrends, 'nodes' | 'builds'>): string {
  if (builds.length === 0) return 'No build was measured yet.';
  const slow = nodes.filter(node => node.is_slow);
  if (slow.length === 0)
    return `No node was slow again and again in ${builds.length === 1 ? 'the last build' : `the last ${number(builds.length)} builds`}.`;
  const named = slow
    .slice(0, 3)
    .map(node => `node ${node.node_index} was slow in ${number(node.slow_builds)} of ${number(known(node.slowness))} builds`);
  const rest = slow.length > 3 ? `, and ${number(slow.length - 3)} more` : '';
  const sentence = named.join(', ') + rest;
  return `${capitalized(sentence)}: the ${agree(slow.length, 'runner', 'runners')}, not the split.`;
}

/** Says which builds the page leaves out: "; 3 builds with 12 and 16 nodes are left out". */
export function leftOutText({ left_out, other_node_totals: totals }: Pick<NodeTrends, 'left_out' | 'other_node_totals'>): string {
  if (left_out === 0) return '';
  const which = totals.length > 3 ? `${totals[0]} to ${totals.at(-1)}` : new Intl.ListFormat('en').format(totals.map(String));
  return `; ${count(left_out, 'build')} with ${which} ${which === '1' ? 'node' : 'nodes'} ${agree(left_out, 'is', 'are')} left out`;
}

const known = (values: readonly (number | null)[]) => values.filter(value => value !== null).length;
