import { useMemo } from 'preact/hooks';
import { Path } from '../parts/path.js';
import { type Column, Table } from '../parts/table.js';
import { setQuery, useAddress } from '../routes/router.js';
import { count, duration, number, offset, percent } from '../text/format.js';
import type { Lane } from './lanes.js';
import { type Sum, type SumBy, sumSpan } from './sums.js';
import type { Span } from './view.js';

const BY: [by: SumBy, title: string][] = [
  ['directory', 'by directory'],
  ['file', 'by file'],
  ['node', 'by node'],
];

/** The runs in the selected span of time. */
export function SpanTable({
  lanes,
  paths,
  span,
  onClose,
}: {
  lanes: readonly Lane[];
  paths: readonly string[];
  span: Span;
  onClose: () => void;
}) {
  const { query } = useAddress();
  const by = BY.find(([by]) => by === query.get('by'))?.[0] ?? 'directory';
  const { seconds, files, rows } = useMemo(() => sumSpan(lanes, paths, span, by), [lanes, paths, span.from, span.to, by]);
  return (
    <section class="span-table" aria-label="The selected span">
      <header>
        <p>
          <strong>
            {offset(span.from, 1)} to {offset(span.to, 1)}
          </strong>
          : {count(files, 'file')}, {duration(seconds)} of node time
        </p>
        <div class="choice">
          {BY.map(([name, title]) => (
            <button key={name} type="button" class="plain" aria-pressed={name === by} onClick={() => setQuery({ by: name })}>
              {title}
            </button>
          ))}
        </div>
        <button type="button" onClick={onClose}>
          Close <kbd>Esc</kbd>
        </button>
      </header>
      <Table
        label={`The selected span ${BY.find(([name]) => name === by)![1]}`}
        columns={columnsOf(by)}
        rows={rows}
        keyOf={({ name }) => name}
        order={query.get('span-sort') ?? ''}
        onOrder={order => setQuery({ 'span-sort': order })}
      />
    </section>
  );
}

function columnsOf(by: SumBy): Column<Sum>[] {
  const name: Column<Sum> = {
    name: 'name',
    title: by === 'node' ? 'Node' : by === 'file' ? 'File' : 'Directory',
    isWide: true,
    cell: ({ name }) => (by === 'node' ? `node ${name}` : <Path text={name} />),
    sortBy: ({ name }) => (by === 'node' ? Number(name) : name),
  };
  const files: Column<Sum> = {
    name: 'files',
    title: 'Files',
    isNumber: true,
    cell: ({ files }) => number(files),
    sortBy: ({ files }) => files,
  };
  return [
    name,
    ...(by === 'file' ? [] : [files]),
    { name: 'seconds', title: 'Node time', isNumber: true, cell: ({ seconds }) => duration(seconds), sortBy: ({ seconds }) => seconds },
    { name: 'share', title: 'Part', isNumber: true, cell: ({ share }) => percent(share), sortBy: ({ share }) => share },
  ];
}
