import type { NodeTrend, NodeTrends } from '../../../protocol/answers/trends.js';
import { useLive } from '../../data/live.js';
import { When } from '../../parts/amounts.js';
import { BranchChoice } from '../../parts/branch-choice.js';
import { FirstLine } from '../../parts/first-line.js';
import { Empty, Loaded } from '../../parts/states.js';
import { type Column, Table } from '../../parts/table.js';
import type { ProjectPageProps } from '../../routes/pages.js';
import { setQuery, useAddress } from '../../routes/router.js';
import { projectPath, withQuery } from '../../routes/routes.js';
import { count, number } from '../../text/format.js';
import { leftOutText, nodesSentence } from './sentences.js';
import { Slowness } from './slowness.js';

export function NodesPage({ project }: ProjectPageProps) {
  const { query } = useAddress();
  const path = withQuery('/v1/trends/nodes', { branch: query.get('branch'), node_total: query.get('node_total') });
  const live = useLive<NodeTrends>(path, { attempt: 'load the nodes', project: project.id });
  return <Loaded live={live}>{trends => <Nodes project={project.name} trends={trends} query={query} />}</Loaded>;
}

function Nodes({ project, trends, query }: { project: string; trends: NodeTrends; query: URLSearchParams }) {
  const { nodes, builds, node_total, branch } = trends;
  const first = builds[0];
  if (!first) {
    return (
      <Empty title={query.size === 0 ? 'No build was measured yet.' : 'No build was found with these choices.'}>
        <p>This page compares the nodes of the last builds: is one of them slow again and again?</p>
        <a class="button" href={query.size === 0 ? projectPath(project, 'set-up') : projectPath(project, 'nodes')}>
          {query.size === 0 ? 'Set up the first build' : 'Show the newest builds'}
        </a>
      </Empty>
    );
  }
  return (
    <>
      <FirstLine sentences={[nodesSentence(trends)]}>
        <p class="quiet">
          {count(builds.length, 'build')} with {count(node_total, 'node')}
          {branch === null ? ' on all branches' : ''}, since <When time={first.at} />
          {leftOutText(trends)}. A node is compared with its estimates and with the other nodes of the same build, so a file that grew does
          not count against a node.
        </p>
      </FirstLine>
      <div class="choices">
        <BranchChoice branch={branch ?? ''} placeholder="all branches" />
        <label>
          Nodes
          <input
            class="seconds"
            type="number"
            min={1}
            max={10_000}
            value={node_total}
            onChange={event => setQuery({ node_total: event.currentTarget.value })}
          />
        </label>
      </div>
      <Table
        label="Nodes"
        columns={COLUMNS}
        rows={nodes}
        keyOf={node => node.node_index}
        order={query.get('order') ?? ''}
        onOrder={order => setQuery({ order })}
      />
      <p class="small quiet">
        The line is the pace of the other nodes, the newest build is at the right. A bar above the line is a build in which the node was
        slower; orange: by a tenth or more.
      </p>
    </>
  );
}

const COLUMNS: Column<NodeTrend>[] = [
  { name: 'node', title: 'Node', cell: ({ node_index }) => `Node ${node_index}`, sortBy: ({ node_index }) => node_index },
  { name: 'slowness', title: 'By build', isWide: true, cell: ({ slowness }) => <Slowness values={slowness} /> },
  {
    name: 'median',
    title: 'Usual',
    about: 'The median of its duration relative to its estimates and to the other nodes.',
    isNumber: true,
    isExtra: true,
    cell: ({ median }) => (median === null ? '–' : `${number(median, 2)}×`),
    sortBy: ({ median }) => median,
  },
  {
    name: 'slow',
    title: 'Slow in',
    isNumber: true,
    cell: ({ slow_builds, is_slow, slowness }) => {
      const known = slowness.filter(value => value !== null).length;
      const text = known === 0 ? '–' : `${slow_builds} of ${known}`;
      return is_slow ? <strong title="More often than chance explains: the runner is slow, not the split">▲ {text}</strong> : text;
    },
    sortBy: ({ slow_builds }) => slow_builds,
  },
  {
    name: 'last',
    title: 'Ended last in',
    isNumber: true,
    isExtra: true,
    cell: ({ last_builds }) => count(last_builds, 'build'),
    sortBy: ({ last_builds }) => last_builds,
  },
];
