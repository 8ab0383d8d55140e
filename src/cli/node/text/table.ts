/** Returns rows as lines whose columns are aligned: numbers at their ends. @param alignOf where the cells of a column meet; null: it is the last one */
export function tableLines(rows: readonly (readonly string[])[], alignOf: (column: number) => 'start' | 'end' | null): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map(cells => cells[column]!.length)));
  const aligned = (cell: string, column: number) => {
    const align = alignOf(column);
    return align === null ? cell : align === 'start' ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!);
  };
  return rows.map(cells => cells.map(aligned).join('  '));
}
