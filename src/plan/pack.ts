/**
 * Splits files over nodes so that the fullest node has little more than the average:
 * longest processing time first (Graham 1969). Deterministic: equal loads go to the lowest node.
 *
 * @param weights seconds by file, in descending order
 * @returns indices of the files of each node, slowest first; a node beyond the files gets none
 */
export function pack(weights: Float64Array, nodes: number): number[][] {
  const packed: number[][] = Array.from({ length: nodes }, () => []);
  const loads = new Float64Array(nodes);
  // A binary heap of nodes, the emptiest on top. All are empty: any order is a heap.
  const heap = Uint32Array.from({ length: nodes }, (_, node) => node);
  const before = (a: number, b: number) => loads[a]! < loads[b]! || (loads[a] === loads[b] && a < b);
  for (let file = 0; file < weights.length; file++) {
    const node = heap[0]!;
    packed[node]!.push(file);
    loads[node]! += weights[file]!;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= nodes) break;
      if (child + 1 < nodes && before(heap[child + 1]!, heap[child]!)) child += 1;
      if (!before(heap[child]!, node)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = node;
  }
  return packed;
}
