import type { ComparedFile, ComparedTime, ComparisonAnswer, DifferenceCause } from '../../../protocol/answers/comparison.js';
import { PART_TITLES } from '../../../protocol/answers/minutes.js';
import type { BuildLines } from '../../../protocol/answers/trends.js';
import type { ProjectLine } from '../../../protocol/messages/dashboard.js';
import { useLive } from '../../data/live.js';
import { Duration } from '../../parts/amounts.js';
import { Branch, Path } from '../../parts/path.js';
import { Loaded } from '../../parts/states.js';
import { type Column, Table } from '../../parts/table.js';
import type { BuildViewProps } from '../../routes/pages.js';
import { setQuery, useAddress } from '../../routes/router.js';
import { projectPath, withQuery } from '../../routes/routes.js';
import { count, exactDuration, signedDuration, when } from '../../text/format.js';
import { buildName } from '../builds/state.js';
import { linkTo } from './link.js';
import { LinkedSentence } from './linked-sentence.js';

/** Builds of the branch that the reader may choose. */
const CHOICES = 30;

function useComparison(project: ProjectLine, id: string, other: string | null) {
  const path = withQuery(`/v1/builds/${encodeURIComponent(id)}/comparison`, { with: other });
  return useLive<ComparisonAnswer>(path, { attempt: 'compare the build', project: project.id });
}

/** The difference of an ended build from the usual ones, in a line that leads to the evidence. */
export function AgainstUsual({ project, id }: Omit<BuildViewProps, 'build'>) {
  const { path, query } = useAddress();
  const { data } = useComparison(project, id, null);
  if (!data || data.is_running || !data.usual) return null;
  return (
    <p class="against-usual">
      <LinkedSentence text={data.verdict} paths={pathsIn(data)} />{' '}
      <a href={linkTo(path, query, { tab: 'compare', sort: null, with: null })}>Compare</a>
    </p>
  );
}

/** A build against what is usual, or against another build, part by part and file by file. */
export function BuildComparison({ project, id, build }: BuildViewProps) {
  const other = useAddress().query.get('with');
  const live = useComparison(project, id, other);
  return (
    <>
      <Choice project={project} id={id} build={build} other={other} />
      <Loaded live={live} waiting="Comparing the files …">
        {answer => <Comparison project={project} answer={answer} />}
      </Loaded>
    </>
  );
}

/** A choice of the other side of the comparison: the usual builds, or one of the last builds of the branch. */
function Choice({ project, id, build, other }: BuildViewProps & { other: string | null }) {
  const { data } = useLive<BuildLines>(withQuery('/v1/build_summaries', { branch: build.branch, limit: CHOICES }), {
    attempt: 'load the builds of the branch',
    project: project.id,
  });
  const builds = (data?.builds ?? []).flatMap(line => {
    const own = line.build_id ?? line.ci_run_id!;
    return own === id || line.build_id === build.build_id || line.is_running ? [] : [{ ...line, own }];
  });
  const isListed = other === null || builds.some(({ own }) => own === other);
  return (
    <div class="choices">
      <label>
        Compare with
        <select value={other ?? ''} onChange={event => setQuery({ with: event.currentTarget.value || null })}>
          <option value="">what is usual</option>
          {!isListed && <option value={other}>another build</option>}
          {builds.map(line => (
            <option key={line.own} value={line.own}>
              {buildName(line)}, {count(line.node_total, 'node')}, {when(line.started_at, Date.now())}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

function Comparison({ project, answer }: { project: ProjectLine; answer: ComparisonAnswer }) {
  const { other, verdict, wall, floor, parts, causes, files, file_count, node_count } = answer;
  const { path, query } = useAddress();
  const before = other ? 'The other' : 'Usually';
  return (
    <section class="comparison">
      <p class="verdict">
        <LinkedSentence text={verdict} paths={pathsIn(answer)} />
      </p>
      {other && (
        <p class="quiet small">
          The other build:{' '}
          <a href={projectPath(project.name, 'build', other.build_id ?? other.ci_run_id!)}>
            <Branch name={other.branch} /> {other.commit_hash.slice(0, 8)}
          </a>
          , {count(other.node_count, 'node')}
          {other.node_count === node_count ? '' : ': with other numbers of nodes, an even share is another one'}.
        </p>
      )}
      {wall.before !== null && (
        <>
          <h2>Why</h2>
          <Table
            label="Causes of the difference"
            columns={causeColumns(cause => linkTo(path, query, ofCause(cause)))}
            rows={causes}
            keyOf={({ text }) => text}
          />
          <h2>Part by part</h2>
          <Table
            label="Parts of the wall time"
            columns={timeColumns<Part>('Part', ({ title }) => title, before)}
            rows={[
              { title: 'wall time', ...wall },
              { title: 'floor', ...floor },
              ...parts
                .filter(({ seconds, before: other }) => seconds > 0 || (other ?? 0) > 0)
                .map(({ name, ...part }) => ({ title: PART_TITLES[name], ...part })),
            ]}
            keyOf={({ title }) => title}
          />
          <h2>File by file</h2>
          {files.length === 0 ? (
            <p>No file took another time.</p>
          ) : (
            <Table
              label="Files that differ most"
              columns={fileColumns(before, file => linkTo(path, query, { file: file.path, tab: null, with: null }))}
              rows={files}
              keyOf={file => file.path}
              order={query.get('sort') ?? ''}
              onOrder={sort => setQuery({ sort })}
            />
          )}
          {file_count > files.length && (
            <p class="quiet small">
              These are the {files.length} of {count(file_count, 'file')} that differ most.
            </p>
          )}
        </>
      )}
    </section>
  );
}

/** The files that a verdict may name. */
function pathsIn({ causes }: ComparisonAnswer): string[] {
  return causes.flatMap(({ path }) => path ?? []);
}

type Part = ComparedTime & { title: string };

function ofCause({ path, node_index }: DifferenceCause): Record<string, string | null> {
  if (path !== null) return { file: path, tab: null, with: null };
  return { q: `node:${node_index}`, tab: null, with: null };
}

function causeColumns(link: (cause: DifferenceCause) => string): Column<DifferenceCause>[] {
  return [
    {
      name: 'cause',
      title: 'Cause',
      isWide: true,
      cell: cause =>
        cause.path === null && cause.node_index === null ? (
          cause.text
        ) : (
          <a href={link(cause)}>{cause.path === null ? cause.text : <Path text={cause.text} />}</a>
        ),
    },
    { name: 'longer', title: 'Longer by', isNumber: true, cell: ({ seconds }) => <Signed seconds={seconds} /> },
  ];
}

interface Times {
  seconds: number | null;
  before: number | null;
}

/** A file that did not run took no time. */
const differenceOf = ({ seconds, before }: Times) => (seconds ?? 0) - (before ?? 0);

function timeColumns<Row extends Times>(
  title: string,
  cell: Column<Row>['cell'],
  before: string,
  sortBy?: Column<Row>['sortBy'],
): Column<Row>[] {
  const sorted = (of: (row: Row) => number | null) => (sortBy ? { sortBy: of } : {});
  return [
    { name: 'name', title, isWide: true, cell, ...(sortBy && { sortBy }) },
    {
      name: 'seconds',
      title: 'This build',
      isNumber: true,
      isLeast: true,
      cell: row => <Duration seconds={row.seconds} />,
      ...sorted(row => row.seconds),
    },
    { name: 'before', title: before, isNumber: true, cell: row => <Duration seconds={row.before} />, ...sorted(row => row.before) },
    { name: 'longer', title: 'Longer by', isNumber: true, cell: row => <Signed seconds={differenceOf(row)} />, ...sorted(differenceOf) },
  ];
}

function fileColumns(before: string, link: (file: ComparedFile) => string): Column<ComparedFile>[] {
  return timeColumns<ComparedFile>(
    'File',
    file => (
      <a href={link(file)}>
        <Path text={file.path} />
      </a>
    ),
    before,
    ({ path }) => path,
  );
}

function Signed({ seconds }: { seconds: number }) {
  return (
    <span class="number" title={exactDuration(seconds)}>
      {signedDuration(seconds)}
    </span>
  );
}
