import type { NodeCount, NodeCountsAnswer } from '../../../protocol/answers/what-if.js';
import { priceText } from '../../../protocol/price.js';
import { Duration } from '../../parts/amounts.js';
import { FoldedTable } from '../../parts/folded-table.js';
import type { Column } from '../../parts/table.js';
import { count, duration, number } from '../../text/format.js';

/** The last builds of the branch by number of nodes: what the first line rests on. */
export function LastBuilds({ last }: { last: NodeCountsAnswer }) {
  const title = `The last ${count(last.builds.length, 'build')} by number of nodes`;
  return <FoldedTable title={title} label={title} columns={columnsOf(last)} rows={last.counts} keyOf={({ nodes }) => nodes} />;
}

function columnsOf({ builds, target, recommended }: NodeCountsAnswer): Column<NodeCount>[] {
  return [
    { name: 'nodes', title: 'Nodes', isNumber: true, cell: ({ nodes }) => (nodes === recommended ? <strong>▸ {nodes}</strong> : nodes) },
    { name: 'median', title: 'Median', isNumber: true, cell: ({ median_wall }) => <Duration seconds={median_wall} /> },
    { name: 'high', title: '9 of 10 within', isNumber: true, cell: ({ p90_wall }) => <Duration seconds={p90_wall} /> },
    {
      name: 'within',
      title: `In ${duration(target)}`,
      isNumber: true,
      cell: ({ within }) => (within === null ? null : `${within} of ${builds.length}`),
    },
    { name: 'work', title: 'Node-minutes', isNumber: true, isExtra: true, cell: ({ job_seconds }) => number(job_seconds / 60, 1) },
    { name: 'cost', title: 'Cost', isNumber: true, isExtra: true, cell: ({ price }) => price && priceText(price) },
  ];
}
