/** What a node runs when nobody splits: of the files in the order of their names every so-many-th. The same on every node that has the same list. */
export function filesByName(all: readonly string[], { node_index, node_total }: { node_index: number; node_total: number }): string[] {
  return [...new Set(all)].sort().filter((_, i) => i % node_total === node_index);
}

/** Said before a node goes on without the server. */
export function fallbackWarning(error: Error, count: number, total: number): string[] {
  return [
    `WARNING: tests are split by name, because there is ${error.message}.`,
    `WARNING: this node runs ${count} of ${total} test files. Nodes that reach the server may run some of them, too, and their times are not used. (--no-fallback: fail instead.)`,
  ];
}
