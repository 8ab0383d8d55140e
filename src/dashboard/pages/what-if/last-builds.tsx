import type { NodeCount, NodeCountsAnswer } from '../../../protocol/answers/what-if.js';
import { priceText } from '../../../protocol/price.js';
import { useLive } from '../../data/live.js';
import { Duration } from '../../parts/amounts.js';
import { FoldedTable } from '../../parts/folded-table.js';
import { Loaded } from '../../parts/states.js';
import type { Column } from '../../parts/table.js';
import { projectPath, withQuery } from '../../routes/routes.js';
import { count, duration, number } from '../../text/format.js';
import { visible } from '../../text/path-text.js';
import { LastBuildsChart } from './last-builds-chart.js';

interface Props {
  project: { id: number; name: string };
  branch: string;
}

/** The number of nodes that the last builds of a branch need, and the builds that show it. One build is a sample. */
export function LastBuilds({ project, branch }: Props) {
  const live = useLive<NodeCountsAnswer>(withQuery('/v1/trends/node_counts', { branch }), {
    attempt: 'play the last builds',
    project: project.id,
  });
  return (
    <section class="last-builds">
      <h2>Over the last builds</h2>
      <Loaded live={live} waiting="Playing the last builds of the branch …">
        {answer => (
          <>
            <p>{visible(answer.sentence)}</p>
            {answer.counts.length > 0 && <Played project={project.name} answer={answer} />}
          </>
        )}
      </Loaded>
    </section>
  );
}

function Played({ project, answer }: { project: string; answer: NodeCountsAnswer }) {
  const { counts, builds, target } = answer;
  return (
    <>
      <p class="small quiet">
        The last {count(builds.length, 'build')} that ended without a missing file, each played with the same numbers of nodes. The line is
        the median, and nine of ten builds end below the dashed line. A ring is what a build really took.{' '}
        {target === null && (
          <>
            With <a href={projectPath(project, 'settings')}>a target</a>, the page says which number is enough.
          </>
        )}
      </p>
      <LastBuildsChart answer={answer} />
      <FoldedTable label="Numbers of nodes of the last builds" columns={columnsOf(answer)} rows={counts} keyOf={({ nodes }) => nodes} />
    </>
  );
}

function columnsOf({ builds, target, recommended }: NodeCountsAnswer): Column<NodeCount>[] {
  const measured = (nodes: number) => builds.filter(({ node_total }) => node_total === nodes).map(({ wall }) => duration(wall));
  const columns: (Column<NodeCount> | null)[] = [
    { name: 'nodes', title: 'Nodes', isNumber: true, cell: ({ nodes }) => (nodes === recommended ? <strong>▸ {nodes}</strong> : nodes) },
    { name: 'median', title: 'Median', isNumber: true, cell: ({ median_wall }) => <Duration seconds={median_wall} /> },
    { name: 'high', title: '9 of 10 within', isNumber: true, cell: ({ p90_wall }) => <Duration seconds={p90_wall} /> },
    target === null
      ? null
      : { name: 'within', title: `In ${duration(target)}`, isNumber: true, cell: ({ within }) => `${within} of ${builds.length}` },
    { name: 'work', title: 'Node-minutes', isNumber: true, isExtra: true, cell: ({ node_seconds }) => number(node_seconds / 60, 1) },
    { name: 'cost', title: 'Cost, about', isNumber: true, isExtra: true, cell: ({ price }) => price && priceText(price) },
    { name: 'measured', title: 'Measured', isWide: true, isExtra: true, cell: ({ nodes }) => measured(nodes).join(', ') },
  ];
  return columns.filter(column => column !== null);
}
