import { agree } from '../../../base/plural.js';
import type { FileTrends } from '../../../protocol/answers/trends.js';
import { useLive } from '../../data/live.js';
import { Duration, When } from '../../parts/amounts.js';
import { BranchChoice } from '../../parts/branch-choice.js';
import { FirstLine } from '../../parts/first-line.js';
import { Branch } from '../../parts/path.js';
import { SearchBox } from '../../parts/search-box.js';
import { Empty, Loaded } from '../../parts/states.js';
import { Table } from '../../parts/table.js';
import type { ProjectPageProps } from '../../routes/pages.js';
import { setQuery, useAddress } from '../../routes/router.js';
import { projectPath, withQuery } from '../../routes/routes.js';
import { count } from '../../text/format.js';
import { branchInSentence } from '../../text/in-sentence.js';
import { visible } from '../../text/path-text.js';
import { fileColumns } from './columns.js';
import { FileTabs, ORDERS } from './file-tabs.js';
import { filesSentences } from './sentences.js';
import { type FilePages, type FileRow, useFilePages } from './use-file-pages.js';

export function FilesPage({ project }: ProjectPageProps) {
  const { query } = useAddress();
  const [branch, search] = [query.get('branch'), query.get('q') ?? ''];
  const sort = ORDERS.find(order => order.sort === query.get('sort'))?.sort ?? ORDERS[0]!.sort;
  const pages = useFilePages(project.id, { branch, path: search, sort });
  // With a search, the list counts what was found: the first line is about all files.
  const all = useLive<FileTrends>(search === '' ? null : withQuery('/v1/trends/files', { branch, limit: 1 }), {
    attempt: 'count the files',
    project: project.id,
  });
  return (
    <Loaded live={pages.live}>
      {found => <Files project={project.name} all={search === '' ? found : all.data} {...{ found, pages, branch, search, sort }} />}
    </Loaded>
  );
}

interface FilesProps {
  project: string;
  found: FileTrends;
  /** Without the search; null: not known yet. */
  all: FileTrends | null;
  pages: FilePages;
  branch: string | null;
  search: string;
  sort: string;
}

function Files({ project, found, all, pages, branch, search, sort }: FilesProps) {
  if (found.file_count === 0 && search === '') return <NoFiles project={project} branch={found.branch} />;
  return (
    <>
      <FirstLine sentences={all ? filesSentences(all) : ['…']}>
        <p class="quiet">
          The next build of <Branch name={found.branch} /> plans with <Duration seconds={found.total} /> of tests. The list is about its
          last {count(found.builds, 'build')}
          {found.since !== null && (
            <>
              , since <When time={found.since} />
            </>
          )}
          . A build waits for a file that takes longer than an even share of the work, or makes the last node late.
        </p>
      </FirstLine>
      <div class="choices">
        <SearchBox label="Search files" placeholder="spec/features" value={search} onSearch={q => setQuery({ q })}>
          {search !== '' && `${count(found.file_count, 'path has', 'paths have')} "${search}" in ${agree(found.file_count, 'it', 'them')}`}
        </SearchBox>
        <BranchChoice branch={found.branch} />
      </div>
      <FileTabs project={project} current={sort} query={{ branch, q: search }} />
      {found.file_count === 0 ? (
        <div class="empty">
          <h2>
            No path has “<bdi>{visible(search)}</bdi>” in it.
          </h2>
          <a class="button" href={withQuery(projectPath(project, 'files'), { branch, sort })}>
            Show all files
          </a>
        </div>
      ) : (
        <Table label="Files" columns={fileColumns(project, branch, pages.load)} rows={pages.rows} keyOf={keyOf} />
      )}
    </>
  );
}

const keyOf = (row: FileRow) => (typeof row === 'number' ? row : row.path);

function NoFiles({ project, branch }: { project: string; branch: string }) {
  return (
    <Empty title={branch === '' ? 'No file was measured yet.' : `No file of ${branchInSentence(branch)} was measured yet.`}>
      <p>Each recorded build adds the time of each of its test files.</p>
      <a class="button" href={projectPath(project, 'set-up')}>
        Set up the first build
      </a>
    </Empty>
  );
}
