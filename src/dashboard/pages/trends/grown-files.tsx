import type { FileTrend, FileTrends } from '../../../protocol/answers/trends.js';
import type { ProjectLine } from '../../../protocol/messages/dashboard.js';
import { Duration, When } from '../../parts/amounts.js';
import { Commit } from '../../parts/commit.js';
import { Branch, FileLink } from '../../parts/path.js';
import { type Column, Table } from '../../parts/table.js';
import { projectPath, withQuery } from '../../routes/routes.js';
import { count, times } from '../../text/format.js';
import { searchWord } from '../../text/search.js';

const SHOWN_FILES = 20;

/** The files whose last change made them longer, and came on this day or later. */
export function grownSince(files: FileTrends | null, from: string): FileTrend[] {
  return (files?.files ?? []).filter(({ change }) => change !== null && change.seconds > 0 && change.at >= from);
}

interface Props {
  project: ProjectLine;
  files: FileTrends;
  grown: FileTrend[];
  branch: string | null;
  from: string;
}

/** The files that grew within the range, and the commits that did it. */
export function GrownFiles({ project, files, grown, branch, from }: Props) {
  const columns: Column<FileTrend>[] = [
    { name: 'path', title: 'File', isWide: true, cell: ({ path }) => <FileLink project={project.name} path={path} branch={branch} /> },
    { name: 'growth', title: 'Grew by', isNumber: true, cell: ({ change }) => <Duration seconds={change!.seconds} /> },
    { name: 'factor', title: 'Times', isNumber: true, isExtra: true, cell: ({ change }) => `▲ ${times(change!.factor)}` },
    { name: 'now', title: 'Estimate', isNumber: true, isExtra: true, cell: ({ estimate }) => <Duration seconds={estimate} /> },
    {
      name: 'commit',
      title: 'With',
      cell: ({ change }) => (
        <Commit
          project={project}
          hash={change!.commit_hash}
          search={withQuery(projectPath(project.name, 'builds'), { q: searchWord('commit', change!.commit_hash) })}
        />
      ),
    },
    { name: 'when', title: 'When', isExtra: true, cell: ({ change }) => <When time={change!.at} /> },
  ];
  return (
    <section>
      <h2>Files that grew</h2>
      <p class="small quiet">
        By their last change since {from}, in the last {count(files.builds, 'build')} of <Branch name={files.branch} />
        {files.since !== null && (
          <>
            , which began <When time={files.since} />
          </>
        )}
        .{' '}
        {grown.length > SHOWN_FILES && (
          <a href={withQuery(projectPath(project.name, 'files'), { sort: 'growth', branch })}>Show more files</a>
        )}
      </p>
      {grown.length === 0 ? (
        <p>No file grew.</p>
      ) : (
        <Table label="Files that grew" columns={columns} rows={grown.slice(0, SHOWN_FILES)} keyOf={({ path }) => path} />
      )}
    </section>
  );
}
