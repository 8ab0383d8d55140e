type ShownColumn<Row> = { name: string; cell: (row: Row) => unknown };

/** Returns the columns that say something of a row, and the one by which the rows are sorted. A table without rows keeps its columns. */
export function withoutEmpty<Row, Shown extends ShownColumn<Row>>(
  columns: readonly Shown[],
  rows: readonly Row[],
  sorted: string,
): Shown[] {
  return columns.filter(({ name, cell }) => rows.length === 0 || name === sorted || rows.some(row => !isEmpty(cell(row))));
}

function isEmpty(cell: unknown): boolean {
  if (cell === null || cell === undefined || cell === '' || cell === '–') return true;
  const { type, props } = cell as { type?: unknown; props?: { seconds?: unknown; children?: unknown } };
  // An unknown duration is rendered as a dash.
  return type === 'span' ? isEmpty(props!.children) : props?.seconds === null;
}
