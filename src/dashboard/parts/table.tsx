import type { ComponentChildren, RefObject } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { count, number } from '../text/format.js';
import { useSurface } from './charts/surface.js';
import { withoutEmpty } from './empty-columns.js';
import { parseOrder, type SortKey, sortRows } from './sorting.js';
import { type RowRange, rowsInWindow } from './visible-rows.js';

export interface Column<Row> {
  /** As in the address. */
  name: string;
  title: string;
  /** Meaning of the column, on hover. */
  about?: string;
  /** Right-aligned. */
  isNumber?: boolean;
  /** Takes the room that is left; its text is cut where it is too long. */
  isWide?: boolean;
  /** Not shown on a phone and a small tablet. */
  isExtra?: boolean;
  /** Not shown on a narrow phone. */
  isLeast?: boolean;
  cell: (row: Row) => ComponentChildren;
  /** Makes the column sortable. */
  sortBy?: (row: Row) => SortKey;
}

export interface TableProps<Row> {
  label: string;
  columns: Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
  /** As `column` or `-column`; empty: the order of `rows`. */
  order?: string;
  onOrder?: (order: string) => void;
  /** Rows of the whole list, where `rows` is its beginning. */
  total?: number;
}

/** As in style.css. */
const ROW_HEIGHT = 32;
/** Longer tables draw only the rows in the window. */
const VIRTUAL_FROM = 150;
/** Rows that are printed: those that every long list has loaded. */
const PRINTED = 500;

/** A table that sorts by its headings, leaves out columns that say nothing, and stays quick with 100,000 rows. */
export function Table<Row>({ label, columns: all, rows, keyOf, order = '', onOrder, total = rows.length }: TableProps<Row>) {
  const { column: sorted, isDescending } = parseOrder(order);
  const sortBy = all.find(({ name }) => name === sorted)?.sortBy;
  // Columns are new with each render; what they sort by is not.
  const ordered = useMemo(() => (sortBy ? sortRows(rows, sortBy, isDescending) : rows), [rows, order]);
  // The cells of long tables are read again only when they may have changed.
  const names = useMemo(() => new Set(withoutEmpty(all, rows, sorted).map(({ name }) => name)), [rows, sorted, all.length]);
  const columns = all.filter(({ name }) => names.has(name));
  const body = useRef<HTMLTableSectionElement>(null);
  const { first, end } = useWindow(body, ordered.length);
  const [box, isScrolling] = useOverflow();
  return (
    // A narrow window scrolls it sideways, also by keys.
    <section class={isScrolling ? 'table scrolls' : 'table'} ref={box} aria-label={label} tabIndex={isScrolling ? 0 : undefined}>
      <table aria-rowcount={total + 1}>
        <thead>
          <tr>
            {columns.map(column => (
              <Heading
                key={column.name}
                column={column}
                direction={column.name === sorted && sortBy ? (isDescending ? 'descending' : 'ascending') : undefined}
                onOrder={onOrder}
              />
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {first > 0 && <Spacer rows={first} />}
          {ordered.slice(first, end).map((row, i) => (
            <tr key={keyOf(row)} aria-rowindex={first + i + 2}>
              {columns.map(column => (
                <td key={column.name} class={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
          {end < ordered.length && <Spacer rows={ordered.length - end} />}
        </tbody>
      </table>
      {end < total && (
        <p class="printed small quiet">
          {number(end)} of {count(total, 'row')} are printed.
        </p>
      )}
    </section>
  );
}

function classOf({ isNumber, isWide, isExtra, isLeast }: Pick<Column<never>, 'isNumber' | 'isWide' | 'isExtra' | 'isLeast'>): string {
  return [isNumber && 'number', isWide && 'wide', isExtra && 'extra', isLeast && 'least'].filter(Boolean).join(' ');
}

interface HeadingProps<Row> {
  column: Column<Row>;
  direction: 'ascending' | 'descending' | undefined;
  onOrder: ((order: string) => void) | undefined;
}

function Heading<Row>({ column, direction, onOrder }: HeadingProps<Row>) {
  const { name, title, about, isNumber, sortBy } = column;
  // Numbers are asked for from the largest down, names from the first on.
  const startsDescending = isNumber === true;
  const next = direction === undefined ? startsDescending : direction === 'ascending';
  return (
    <th class={classOf(column)} aria-sort={direction} title={about} scope="col">
      {sortBy && onOrder ? (
        <button type="button" onClick={() => onOrder(`${next ? '-' : ''}${name}`)}>
          {title}
          <span class="direction" aria-hidden="true">
            {direction === undefined ? '' : direction === 'descending' ? '↓' : '↑'}
          </span>
        </button>
      ) : (
        title
      )}
    </th>
  );
}

/** Keeps the height of rows that are not drawn. */
function Spacer({ rows }: { rows: number }) {
  return <tr class="spacer" style={{ height: `${rows * ROW_HEIGHT}px` }} />;
}

/** Reports whether a table is wider than its box. */
function useOverflow(): [box: RefObject<HTMLElement | null>, isScrolling: boolean] {
  const box = useRef<HTMLElement>(null);
  const [isScrolling, setScrolling] = useState(false);
  useLayoutEffect(() => {
    const shown = box.current!;
    const observer = new ResizeObserver(() => setScrolling(shown.firstElementChild!.clientWidth > shown.clientWidth));
    observer.observe(shown);
    observer.observe(shown.firstElementChild!);
    return () => observer.disconnect();
  }, []);
  return [box, isScrolling];
}

function useWindow(body: { current: HTMLTableSectionElement | null }, rows: number): RowRange {
  const isOnPaper = useSurface() === 'paper';
  const isVirtual = rows > VIRTUAL_FROM && !isOnPaper;
  const [range, setRange] = useState<RowRange>({ first: 0, end: VIRTUAL_FROM });
  useLayoutEffect(() => {
    if (!isVirtual) return;
    const update = () => {
      const { top } = body.current!.getBoundingClientRect();
      const next = rowsInWindow(rows, ROW_HEIGHT, -top, innerHeight);
      setRange(range => (range.first === next.first && range.end === next.end ? range : next));
    };
    update();
    addEventListener('scroll', update, { passive: true, capture: true });
    addEventListener('resize', update);
    return () => {
      removeEventListener('scroll', update, { capture: true });
      removeEventListener('resize', update);
    };
  }, [body, isVirtual, rows]);
  return isVirtual ? range : { first: 0, end: isOnPaper ? Math.min(rows, PRINTED) : rows };
}
