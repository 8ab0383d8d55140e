import type { BuildLine } from '../../../protocol/answers/trends.js';
import type { ProjectLine } from '../../../protocol/messages/dashboard.js';
import { Duration, When } from '../../parts/amounts.js';
import { fullBar } from '../../parts/charts/bar-scale.js';
import { Commit } from '../../parts/commit.js';
import { Branch, FileLink } from '../../parts/path.js';
import { Status } from '../../parts/status.js';
import { type Column, Table } from '../../parts/table.js';
import { projectPath } from '../../routes/routes.js';
import { percent } from '../../text/format.js';
import { buildKey } from './list.js';
import { WallBar } from './wall-bar.js';

/** Builds, a row each. The whole row is the link to the build. */
export function BuildTable({ builds, total, project, order, onOrder }: Props) {
  const full = fullBar(builds.flatMap(({ summary }) => summary?.wall ?? []));
  return (
    <Table label="Builds" columns={columnsOf(project, full)} rows={builds} keyOf={buildKey} total={total} order={order} onOrder={onOrder} />
  );
}

interface Props {
  builds: readonly BuildLine[];
  total: number;
  project: ProjectLine;
  /** As GET /v1/build_summaries sorts: `-wall`; empty: newest first. */
  order: string;
  onOrder: (order: string) => void;
}

function columnsOf(project: ProjectLine, full: number): Column<BuildLine>[] {
  return [
    {
      name: 'status',
      title: 'Status',
      cell: build => <Status state={build.state} failed={build.summary?.failed ?? 0} missing={build.summary?.missing ?? 0} />,
    },
    {
      name: 'branch',
      title: 'Branch',
      isWide: true,
      cell: build => (
        <a class="row" href={projectPath(project.name, 'build', build.build_id ?? build.ci_run_id!)}>
          <Branch name={build.branch} />
        </a>
      ),
    },
    { name: 'commit', title: 'Commit', isExtra: true, cell: ({ commit_hash }) => <Commit project={project} hash={commit_hash} /> },
    {
      name: 'nodes',
      title: 'Nodes',
      isNumber: true,
      isExtra: true,
      cell: ({ node_total }) => node_total,
      sortBy: ({ node_total }) => node_total,
    },
    {
      name: 'started',
      title: 'Started',
      isNumber: true,
      isLeast: true,
      cell: ({ started_at }) => <When time={started_at} hasClock />,
      sortBy: ({ started_at }) => Date.parse(started_at),
    },
    {
      name: 'wall',
      title: 'Wall time',
      about: 'From the start of the first node to the end of the last one. The light end was lost beyond the least possible time.',
      isNumber: true,
      cell: build => <Wall build={build} full={full} />,
      sortBy: ({ summary }) => summary?.wall ?? null,
    },
    {
      name: 'idle',
      title: 'Idle',
      about: 'The part of the node time in which nodes had ended and the last one was still running',
      isNumber: true,
      isExtra: true,
      cell: ({ summary, is_running }) => (is_running ? '' : percent(summary?.idle_share)),
      sortBy: ({ summary }) => summary?.idle_share ?? null,
    },
    { name: 'decided', title: 'Waited for', isExtra: true, cell: build => decided(build, project.name) },
    {
      name: 'saved',
      title: 'Saved',
      about:
        'How much longer the best of other methods (round-robin, by name, one file at a time) would have taken with the same recorded times. Unknown if files are missing, or if no queue and no split is known',
      isNumber: true,
      isExtra: true,
      cell: build => <Duration seconds={savedBy(build)} />,
      sortBy: savedBy,
    },
  ];
}

/** Seconds; null: nobody knows. */
const savedBy = ({ summary }: BuildLine) => summary?.saved ?? null;

function Wall({ build: { summary, is_running, started_at }, full }: { build: BuildLine; full: number }) {
  if (!summary) return is_running ? <Duration seconds={(Date.now() - Date.parse(started_at)) / 1000} /> : '–';
  return (
    <span class="wall">
      <WallBar wall={summary.wall} floor={summary.floor} full={full} />
      <Duration seconds={summary.wall} />
    </span>
  );
}

function decided(build: BuildLine, project: string) {
  const by = build.summary?.decided_by;
  if (!by) return '';
  if ('node_index' in by) return `node ${by.node_index}`;
  return <FileLink className="decided" project={project} path={by.path} branch={build.branch} />;
}
