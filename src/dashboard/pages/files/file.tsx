import type { FileHistory, FilePoint } from '../../../protocol/answers/trends.js';
import { useLive } from '../../data/live.js';
import { Duration, When } from '../../parts/amounts.js';
import { BranchChoice } from '../../parts/branch-choice.js';
import { FirstLine } from '../../parts/first-line.js';
import { FoldedTable } from '../../parts/folded-table.js';
import { Path } from '../../parts/path.js';
import { Empty, Loaded } from '../../parts/states.js';
import { type Column, Table } from '../../parts/table.js';
import type { ProjectPageProps } from '../../routes/pages.js';
import { navigate, useAddress } from '../../routes/router.js';
import { projectPath, withQuery } from '../../routes/routes.js';
import { count, duration, times } from '../../text/format.js';
import { commitOf } from '../../text/in-sentence.js';
import { HistoryChart } from './history-chart.js';
import { failuresText, fileSentences, passedAgainText, piecesSentences, RESULTS } from './sentences.js';

/** Builds that are listed of those that waited for the file. */
const SHOWN = 20;

export function FilePage({ project }: ProjectPageProps) {
  const { query } = useAddress();
  const path = query.get('path');
  const address = path === null ? null : withQuery('/v1/trends/files/history', { path, branch: query.get('branch') });
  const live = useLive<FileHistory>(address, { attempt: 'load the times of this file', project: project.id });
  if (path === null) {
    return (
      <Empty title="This address names no file.">
        <a class="button" href={projectPath(project.name, 'files')}>
          All files
        </a>
      </Empty>
    );
  }
  return <Loaded live={live}>{history => <File project={project.name} history={history} />}</Loaded>;
}

function File({ project, history }: { project: string; history: FileHistory }) {
  const { path, branch, points, changes, decided, failed, results } = history;
  const passedAgain = passedAgainText(history);
  const build = (id: string) => projectPath(project, 'build', id);
  return (
    <>
      <FirstLine sentences={fileSentences(history)}>
        {results > 0 && (
          <p class="rest">
            {failuresText(history)}
            {failed[0] && (
              <>
                <a href={build(failed[0].build_id)}>{commitOf(failed[0].commit_hash)}</a>.
              </>
            )}
            {passedAgain && (
              <>
                {' '}
                {passedAgain} <a href={projectPath(project, 'flaky')}>All flaky files</a>
              </>
            )}
          </p>
        )}
        <p class="whole-path">
          <code>
            <Path text={path} />
          </code>
        </p>
      </FirstLine>
      <div class="choices">
        <BranchChoice branch={branch} />
        <a href={withQuery(projectPath(project, 'files'), { branch })}>All files</a>
      </div>
      {points.length === 0 ? (
        <p class="quiet">No build of this branch recorded it. Another branch may have its times.</p>
      ) : (
        <HistoryChart history={history} onBuild={id => navigate(build(id))} />
      )}
      <Pieces {...{ project, history }} />
      {changes.length > 0 && (
        <section>
          <h2>Changes</h2>
          <ul>
            {changes.toReversed().map(change => (
              <li key={change.build_id}>
                <a href={build(change.build_id)}>{commitOf(change.commit_hash)}</a>: from {duration(change.before)} to{' '}
                {duration(change.after)}, {times(change.factor)}, <When time={change.at} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {decided.length > 0 && (
        <section>
          <h2>
            {decided.length > SHOWN
              ? `The last ${SHOWN} of ${count(decided.length, 'build')} that waited for it`
              : 'Builds that waited for it'}
          </h2>
          <Table
            label="Builds that waited for it"
            columns={decidedColumns(project)}
            rows={decided.slice(0, SHOWN)}
            keyOf={row => row.build_id}
          />
        </section>
      )}
      {points.length > 0 && (
        <FoldedTable
          title={`All ${count(points.length, 'time')} as a table`}
          label="Times"
          columns={pointColumns(project)}
          rows={points.toReversed()}
          keyOf={point => point.build_id}
        />
      )}
    </>
  );
}

/** Facts about the file in pieces, and the gain of a cut, with a link to the page that plays it. */
function Pieces({ project, history: { cut, cut_saves, pieces } }: { project: string; history: FileHistory }) {
  const played = cut === null || cut_saves === null ? null : { ...cut, saves: cut_saves };
  if (!played && !pieces) return null;
  return (
    <section>
      <h2>In pieces</h2>
      {pieces && (
        <p>
          {piecesSentences(pieces).join(' ')} <a href="/docs/pieces">How pieces work</a>
        </p>
      )}
      {played && (
        <p>
          {played.is_done ? 'Because the file ran in pieces' : `With the file in ${count(played.pieces, 'piece')}`},{' '}
          <a href={projectPath(project, 'build', played.build_id)}>the last build</a> {played.is_done ? 'ended' : 'would have ended'}{' '}
          {played.saves < 0.5 ? 'no' : <strong>{duration(played.saves)}</strong>} sooner.{' '}
          <a href={withQuery(projectPath(project, 'what-if'), { build: played.build_id })}>Play that build with other numbers of nodes</a>
        </p>
      )}
    </section>
  );
}

type Decided = FileHistory['decided'][number];

const buildColumn = <Row extends { build_id: string; commit_hash: string }>(project: string): Column<Row> => ({
  name: 'build',
  title: 'Build',
  cell: ({ build_id, commit_hash }) => <a href={projectPath(project, 'build', build_id)}>{commitOf(commit_hash)}</a>,
});

const decidedColumns = (project: string): Column<Decided>[] => [
  buildColumn(project),
  { name: 'at', title: 'When', cell: ({ at }) => <When time={at} /> },
  {
    name: 'seconds',
    title: 'Delay of the last node',
    isWide: true,
    cell: ({ seconds }) => <Duration seconds={seconds} />,
  },
];

const pointColumns = (project: string): Column<FilePoint>[] => [
  buildColumn(project),
  { name: 'at', title: 'When', isLeast: true, cell: ({ at }) => <When time={at} /> },
  { name: 'result', title: 'Result', cell: ({ result }) => (result ? RESULTS[result] : 'not known') },
  { name: 'node', title: 'Node', isNumber: true, isExtra: true, cell: ({ node_index }) => node_index },
  { name: 'seconds', title: 'Took', isNumber: true, cell: ({ seconds }) => <Duration seconds={seconds} /> },
  { name: 'estimate', title: 'Estimate', isNumber: true, isExtra: true, cell: ({ estimate }) => <Duration seconds={estimate} /> },
  {
    name: 'band',
    title: 'Expected',
    about: 'About two of three builds take a time in this range.',
    isWide: true,
    isExtra: true,
    cell: ({ low, high }) => (low === null ? '' : `${duration(low)} to ${duration(high)}`),
  },
];
