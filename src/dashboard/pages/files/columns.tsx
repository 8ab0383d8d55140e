import { useEffect } from 'preact/hooks';
import type { FileTrend } from '../../../protocol/answers/trends.js';
import { Duration } from '../../parts/amounts.js';
import { Sparkline } from '../../parts/charts/sparkline.js';
import { FileLink } from '../../parts/path.js';
import type { Column } from '../../parts/table.js';
import { count, number, percent, times } from '../../text/format.js';
import { visible } from '../../text/path-text.js';
import type { FileRow } from './use-file-pages.js';

type Cell = Omit<Column<FileTrend>, 'sortBy'>;

/** The columns of the list of files. A row that is not loaded shows nothing, and asks for its page. */
export function fileColumns(project: string, branch: string | null, load: (place: number) => void): Column<FileRow>[] {
  return cellsOf(project, branch).map(({ cell, ...column }) => ({
    ...column,
    cell: row => {
      if (typeof row !== 'number') return cell(row);
      return column.name === 'path' ? <Awaited key={row} place={row} load={load} /> : '';
    },
  }));
}

function Awaited({ place, load }: { place: number; load: (place: number) => void }) {
  useEffect(() => load(place), [place]);
  return <span class="quiet">…</span>;
}

const cellsOf = (project: string, branch: string | null): Cell[] => [
  {
    name: 'path',
    title: 'File',
    isWide: true,
    cell: ({ path }) => <FileLink project={project} path={path} branch={branch} />,
  },
  {
    name: 'decided',
    title: 'Waited for',
    about: 'Builds that waited for this file: it took longer than an even share, or made the last node late.',
    isNumber: true,
    cell: ({ decided }) => (decided === 0 ? '' : count(decided, 'build')),
  },
  {
    name: 'estimate',
    title: 'Estimate',
    about: 'What the next build plans with. A dash: none of the last five builds measured the file.',
    isNumber: true,
    cell: ({ estimate }) => <Duration seconds={estimate} />,
  },
  {
    name: 'median',
    title: 'Median',
    about: 'The median of its times.',
    isNumber: true,
    isExtra: true,
    cell: ({ median }) => <Duration seconds={median} />,
  },
  {
    name: 'spread',
    title: 'Varies by',
    about: 'The usual deviation: 1.2× means from 1/1.2 to 1.2 times the usual time.',
    isNumber: true,
    isExtra: true,
    cell: ({ spread }) => `${number(spread, 2)}×`,
  },
  { name: 'recent', title: 'Last times', isExtra: true, cell: ({ recent }) => <Sparkline values={recent} /> },
  {
    name: 'change',
    title: 'Changed',
    about: 'Its duration after the last change, relative to before.',
    isNumber: true,
    isExtra: true,
    cell: ({ change }) =>
      change && (
        <span class={change.factor > 1 ? 'grew' : undefined} title={`since ${visible(change.commit_hash)}`}>
          {change.factor > 1 ? '▲' : '▼'} {times(change.factor)}
        </span>
      ),
  },
  {
    name: 'share',
    title: 'Share',
    about: 'Its part of the sum of all estimates.',
    isNumber: true,
    isExtra: true,
    cell: ({ share }) => percent(share),
  },
];
