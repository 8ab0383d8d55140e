import { useMemo } from 'preact/hooks';
import type { FileTrend, FileTrends } from '../../api/messages/insight/trends.js';
import { count, duration, number, percent, times } from '../format.js';
import { useLive } from '../live.js';
import type { ProjectPageProps } from '../pages.js';
import { Duration, When } from '../parts/amounts.js';
import { BranchChoice } from '../parts/branch-choice.js';
import { FirstLine } from '../parts/first-line.js';
import { Path } from '../parts/path.js';
import { SearchBox } from '../parts/search-box.js';
import { Sparkline } from '../parts/sparkline.js';
import { Empty, Loaded } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { Tabs } from '../parts/tabs.js';
import { setQuery, useAddress } from '../router.js';
import { projectPath, withQuery } from '../routes.js';
import { filesSentence } from '../trends/sentences.js';

/** How often the list is loaded again, in seconds. */
const REFRESH = 60;

/** Orders by which files hurt. */
const VIEWS = [
  { order: '-decided', title: 'Decide the end' },
  { order: '-median', title: 'Slowest' },
  { order: '-spread', title: 'Most variable' },
  { order: '-growth', title: 'Growing' },
];

export default function FilesPage({ project }: ProjectPageProps) {
  const { query } = useAddress();
  const path = withQuery('/v1/trends/files', { branch: query.get('branch') });
  const live = useLive<FileTrends>(path, { attempt: 'load the files', project: project.id }, () => REFRESH);
  return <Loaded live={live}>{trends => <Files project={project.name} trends={trends} query={query} />}</Loaded>;
}

function Files({ project, trends, query }: { project: string; trends: FileTrends; query: URLSearchParams }) {
  const { files, file_count, branch, builds, since, total } = trends;
  const search = query.get('q') ?? '';
  const order = query.get('order') ?? VIEWS[0]!.order;
  const found = useMemo(() => filesWith(files, search), [files, search]);
  if (file_count === 0) return <NoFiles project={project} trends={trends} />;
  const here = projectPath(project, 'files');
  const address = (order: string) => withQuery(here, { branch: query.get('branch'), q: search, order });
  return (
    <>
      <FirstLine sentences={[filesSentence(trends)]}>
        <p class="quiet">
          {duration(total)} of tests on <Path text={branch} /> in its last {count(builds, 'build')}
          {since !== null && (
            <>
              , since <When time={since} />
            </>
          )}
          .
        </p>
      </FirstLine>
      <div class="choices">
        <SearchBox label="Search files" placeholder="spec/features" value={search} onSearch={q => setQuery({ q })}>
          {search !== '' && `${number(found.length)} of ${count(file_count, 'file')} have "${search}" in their paths`}
        </SearchBox>
        <BranchChoice branch={branch} />
      </div>
      <Tabs label="Order" current={order} tabs={VIEWS.map(({ order, title }) => ({ name: order, title, href: address(order) }))} />
      {found.length === 0 ? (
        <Empty title={`No path has "${search}" in it.`}>
          <a class="button" href={withQuery(here, { branch: query.get('branch'), order: query.get('order') })}>
            Show all {count(file_count, 'file')}
          </a>
        </Empty>
      ) : (
        <Table
          label="Files"
          columns={columnsOf(project, query.get('branch'))}
          rows={found}
          keyOf={file => file.path}
          order={order}
          onOrder={order => setQuery({ order })}
        />
      )}
      {files.length < file_count && (
        <p class="quiet">
          These are {number(files.length)} of {count(file_count, 'file')}, the slowest ones.
        </p>
      )}
    </>
  );
}

function filesWith(files: readonly FileTrend[], search: string): readonly FileTrend[] {
  if (search === '') return files;
  const wanted = search.toLowerCase();
  return files.filter(file => file.path.toLowerCase().includes(wanted));
}

function NoFiles({ project, trends }: { project: string; trends: FileTrends }) {
  return (
    <Empty title="No file was measured on this branch yet.">
      <p>
        Each recorded build adds the time of each of its test files. The branch is <Path text={trends.branch} />.
      </p>
      <a class="button" href={projectPath(project, 'set-up')}>
        Set up the first build
      </a>
    </Empty>
  );
}

const columnsOf = (project: string, branch: string | null): Column<FileTrend>[] => [
  {
    name: 'path',
    title: 'File',
    isWide: true,
    cell: ({ path }) => (
      <a href={withQuery(projectPath(project, 'file'), { path, branch })}>
        <Path text={path} />
      </a>
    ),
    sortBy: ({ path }) => path,
  },
  {
    name: 'decided',
    title: 'Decided',
    about: 'Builds that ended with it as the last or longest file.',
    isNumber: true,
    cell: ({ decided }) => (decided === 0 ? '' : count(decided, 'build')),
    sortBy: ({ decided }) => decided,
  },
  {
    name: 'median',
    title: 'Median',
    about: 'The median of its times.',
    isNumber: true,
    cell: ({ median }) => <Duration seconds={median} />,
    sortBy: ({ median }) => median,
  },
  {
    name: 'spread',
    title: 'Varies by',
    about: 'The usual deviation: 1.2× means from 1/1.2 to 1.2 times the usual time.',
    isNumber: true,
    isExtra: true,
    cell: ({ spread }) => `${number(spread, 2)}×`,
    sortBy: ({ spread }) => spread,
  },
  {
    name: 'recent',
    title: 'Last times',
    isExtra: true,
    cell: ({ recent }) => <Sparkline values={recent} />,
  },
  {
    name: 'growth',
    title: 'Changed',
    about: 'Its duration after the last change, relative to before.',
    isNumber: true,
    isExtra: true,
    cell: ({ change }) => change && <Change factor={change.factor} commit={change.commit_hash} />,
    sortBy: ({ change }) => change?.factor ?? null,
  },
  {
    name: 'share',
    title: 'Share',
    about: 'Its part of the sum of all medians.',
    isNumber: true,
    cell: ({ share }) => percent(share),
    sortBy: ({ share }) => share,
  },
];

function Change({ factor, commit }: { factor: number; commit: string }) {
  return (
    <span class={factor > 1 ? 'grew' : undefined} title={`since ${commit}`}>
      {factor > 1 ? '▲' : '▼'} {times(factor)}
    </span>
  );
}
