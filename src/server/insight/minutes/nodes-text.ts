import { agree } from '../../../base/plural.js';

const NODES_NAMED = 5;

/** Names nodes at the start of a sentence. */
export function nodesText(indexes: readonly number[]): string {
  const named = indexes.slice(0, NODES_NAMED).join(', ');
  const more = indexes.length - NODES_NAMED;
  return `${agree(indexes.length, 'Node', 'Nodes')} ${named}${more > 0 ? ` and ${more} more` : ''}`;
}
