import { useState } from 'preact/hooks';
import { Table, type TableProps } from './table.js';

/** The numbers of a chart as a table, which is made when it is opened: it measures its box. */
export function FoldedTable<Row>({ title = 'The same numbers as a table', ...table }: TableProps<Row> & { title?: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && <Table {...table} />}
    </details>
  );
}
