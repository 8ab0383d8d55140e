/**
 * When nodes that work until all is done together finish what is left: the T with
 * sum of speed x max(0, T - ready) = left. Newton's method on a convex function, from above: every step drops the nodes
 * that would be ready too late to help, and the one that drops none is exact.
 *
 * @param left what is left to do, more than 0
 * @param speeds what each node does in a unit of time
 * @param ready when each node can begin, in the same unit
 */
export function commonFinishTime(left: number, speeds: Float64Array, ready: Float64Array): number {
  let line = Infinity;
  for (let helping = Infinity; ; ) {
    let count = 0;
    let speed = 0;
    let lost = 0;
    for (let node = 0; node < speeds.length; node++) {
      if (ready[node]! >= line) continue;
      count += 1;
      speed += speeds[node]!;
      lost += speeds[node]! * ready[node]!;
    }
    // Rounding may bring a node back, or leave out the last.
    if (count === 0 || count >= helping) return line;
    helping = count;
    line = (left + lost) / speed;
  }
}
