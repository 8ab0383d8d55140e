/**
 * Returns when all nodes finish if they share the remaining work and finish together: the T with
 * sum of speed x max(0, T - ready) = work. Newton's method on a convex function, from above: every step drops the nodes
 * that are ready too late to help, and the step that drops none is exact.
 *
 * @param work the remaining work, more than 0
 * @param nodes how many nodes there are: the arrays may be longer
 * @param speeds the work that each node does in a unit of time
 * @param ready when each node can begin, in the same unit
 */
export function commonFinishTime(work: number, nodes: number, speeds: Float64Array, ready: Float64Array): number {
  let finishTime = Infinity;
  for (let previousCount = Infinity; ; ) {
    let count = 0;
    let speed = 0;
    let lost = 0;
    for (let node = 0; node < nodes; node++) {
      if (ready[node]! >= finishTime) continue;
      count += 1;
      speed += speeds[node]!;
      lost += speeds[node]! * ready[node]!;
    }
    // Rounding may bring a node back, or drop the last one.
    if (count === 0 || count >= previousCount) return finishTime;
    previousCount = count;
    finishTime = (work + lost) / speed;
  }
}
