import type { TimelineAnswer } from '../../../../protocol/answers/timeline.js';
import type { FileHistory } from '../../../../protocol/answers/trends.js';
import type { ProjectLine } from '../../../../protocol/messages/dashboard.js';
import { fileOfPiece } from '../../../../protocol/piece-path.js';
import { useLive } from '../../../data/live.js';
import { Duration, When } from '../../../parts/amounts.js';
import { Sparkline } from '../../../parts/charts/sparkline.js';
import { Drawer } from '../../../parts/drawer.js';
import { Loaded } from '../../../parts/states.js';
import { type Column, Table } from '../../../parts/table.js';
import { projectPath, withQuery } from '../../../routes/routes.js';
import { duration, times } from '../../../text/format.js';
import { visible } from '../../../text/path-text.js';
import { failureText, type Lane, REPEATED, RUNNING } from '../../../timeline/lanes.js';

interface Props {
  project: ProjectLine;
  timeline: TimelineAnswer;
  lanes: readonly Lane[];
  path: string;
  onClose: () => void;
}

const LAST = 10;

/** A file or a piece of one in this build, and the file in the last ones of its branch. */
export function FileDrawer({ project, timeline, lanes, path, onClose }: Props) {
  const { branch, paths, estimates, is_guess } = timeline;
  const live = useLive<FileHistory>(withQuery('/v1/trends/files/history', { path: fileOfPiece(path), branch }), {
    attempt: 'load the times of this file',
    project: project.id,
  });
  const file = paths.indexOf(path);
  const estimate = estimates[file] ?? null;
  return (
    <Drawer title={<bdi>{visible(path)}</bdi>} onClose={onClose}>
      <dl class="facts">
        <dt>estimate</dt>
        <dd>
          <Duration seconds={estimate} />
          {is_guess[file] ? ', a guess: it was never measured' : ''}
        </dd>
        {file < 0 && <dd>This build does not have it.</dd>}
        {runsOf(lanes, file).map(({ lane, run }) => (
          <Run key={`${lane.node} ${run}`} lane={lane} run={run} estimate={estimate} />
        ))}
      </dl>
      <Loaded live={live}>{history => <Last history={history} isPiece={history.path !== path} project={project} />}</Loaded>
      <p>
        <a class="button" href={withQuery(projectPath(project.name, 'file'), { path: fileOfPiece(path), branch })}>
          All builds of this file
        </a>
      </p>
    </Drawer>
  );
}

function Run({ lane, run, estimate }: { lane: Lane; run: number; estimate: number | null }) {
  const seconds = lane.seconds[run]!;
  const flags = lane.flags[run]!;
  const failure = failureText(flags);
  return (
    <>
      <dt>node {lane.node}</dt>
      <dd>
        {Number.isNaN(seconds) ? (flags & RUNNING ? 'not recorded yet' : 'had it and did not record it') : duration(seconds)}
        {estimate && seconds ? `, ${times(seconds / estimate)} its estimate` : ''}
        {failure && `, ${failure}`}
        {flags & REPEATED ? ', repeated' : ''}
      </dd>
    </>
  );
}

function Last({ history: { points }, isPiece, project }: { history: FileHistory; isPiece: boolean; project: ProjectLine }) {
  const last = points.slice(-LAST).reverse();
  if (last.length === 0) return <p class="quiet">No build of this branch recorded it before.</p>;
  return (
    <section>
      <h3>
        {isPiece ? 'The whole file in the last' : 'Last'} {last.length === 1 ? 'build' : `${last.length} builds`} of the branch
      </h3>
      <Sparkline values={last.map(({ seconds }) => seconds).reverse()} width={240} height={40} />
      <Table label="Last builds" columns={columnsOf(project)} rows={last} keyOf={({ build_id }) => build_id} />
    </section>
  );
}

function columnsOf(project: ProjectLine): Column<FileHistory['points'][number]>[] {
  return [
    {
      name: 'build',
      title: 'Build',
      cell: ({ build_id, commit_hash }) => (
        <a href={projectPath(project.name, 'build', build_id)}>
          <bdi class="hash">{visible(commit_hash).slice(0, 8)}</bdi>
        </a>
      ),
    },
    { name: 'when', title: 'Recorded', isLeast: true, cell: ({ at }) => <When time={at} /> },
    { name: 'node', title: 'Node', isNumber: true, isExtra: true, cell: ({ node_index }) => node_index },
    { name: 'estimate', title: 'Estimate', isNumber: true, cell: ({ estimate }) => duration(estimate) },
    { name: 'seconds', title: 'Time', isNumber: true, cell: ({ seconds }) => <Duration seconds={seconds} /> },
  ];
}

function runsOf(lanes: readonly Lane[], file: number): { lane: Lane; run: number }[] {
  return lanes.flatMap(lane => {
    const runs: { lane: Lane; run: number }[] = [];
    lane.file.forEach((other, run) => {
      if (other === file) runs.push({ lane, run });
    });
    return runs;
  });
}
