import type { Soon } from '../../engine/soon.js';
import type { JournaledRuns } from './writes/journaled-runs.js';

type Reads = Record<string, (...args: never[]) => unknown>;
type AfterRuns<G> = { [K in keyof G]: G[K] extends (...args: infer A) => infer R ? (...args: A) => Soon<Awaited<R>> : never };

/** A group of reads that see every recorded run: each waits, where that is necessary, until the tables have the runs in the journal. */
export function afterRuns<G extends object>(runs: Pick<JournaledRuns, 'settle'>, group: G): AfterRuns<G> {
  const reads = Object.entries(group as Reads).map(([name, read]) => [
    name,
    (...args: never[]) => {
      const settled = runs.settle();
      return settled ? settled.then(() => read(...args)) : read(...args);
    },
  ]);
  return Object.fromEntries(reads) as AfterRuns<G>;
}
