import { Duration } from '../../../parts/amounts.js';
import { Path } from '../../../parts/path.js';
import { type Column, Table } from '../../../parts/table.js';
import { setQuery, useAddress } from '../../../routes/router.js';
import { duration, number, times } from '../../../text/format.js';
import { isOver } from '../../../timeline/lanes.js';
import { linkTo } from '../link.js';
import type { FileRow } from './file-rows.js';

/** The files of a build as a table: all of them, or those that a search finds. */
export function BuildFiles({ rows }: { rows: readonly FileRow[] }) {
  const { path, query } = useAddress();
  return (
    <Table
      label="Files"
      columns={columnsOf(file => linkTo(path, query, { file }))}
      rows={rows}
      keyOf={({ path, node, batch }) => `${node} ${batch} ${path}`}
      order={query.get('sort') ?? '-seconds'}
      onOrder={sort => setQuery({ sort })}
    />
  );
}

function columnsOf(link: (path: string) => string): Column<FileRow>[] {
  return [
    {
      name: 'path',
      title: 'File',
      isWide: true,
      cell: ({ path }) => (
        <a class="row" href={link(path)}>
          <Path text={path} />
        </a>
      ),
      sortBy: ({ path }) => path,
    },
    { name: 'result', title: 'Result', isExtra: true, cell: resultOf, sortBy: resultOf },
    { name: 'node', title: 'Node', isNumber: true, cell: ({ node }) => node ?? '–', sortBy: ({ node }) => node },
    {
      name: 'batch',
      title: 'Batch',
      isNumber: true,
      isExtra: true,
      cell: ({ batch }) => (batch === null ? '–' : number(batch)),
      sortBy: ({ batch }) => batch,
    },
    {
      name: 'estimate',
      title: 'Estimate',
      isNumber: true,
      isExtra: true,
      cell: ({ estimate, isGuess }) =>
        isGuess ? <span title="A guess: the file was never measured">~ {duration(estimate)}</span> : <Duration seconds={estimate} />,
      sortBy: ({ estimate }) => estimate,
    },
    {
      name: 'seconds',
      title: 'Time',
      isNumber: true,
      cell: ({ seconds }) => <Duration seconds={seconds} />,
      sortBy: ({ seconds }) => seconds,
    },
    {
      name: 'ratio',
      title: 'Ratio',
      about: 'Time over estimate',
      isNumber: true,
      cell: ({ ratio, seconds, estimate, isGuess }) => (
        <span class={isOver(seconds, isGuess ? null : estimate) ? 'over-text' : ''}>{times(ratio)}</span>
      ),
      sortBy: ({ ratio }) => ratio,
    },
  ];
}

function resultOf({ failure, isRunning, isMissing, seconds, node }: FileRow): string {
  if (failure) return failure.startsWith('failed') ? `✕ ${failure}` : failure;
  if (isRunning) return 'not recorded yet';
  if (seconds !== null) return '';
  if (node === null) return 'not handed out';
  return isMissing ? 'not recorded' : 'not recorded here';
}
