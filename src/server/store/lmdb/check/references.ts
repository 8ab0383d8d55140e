import type { Parts } from '../parts.js';

/** Look-ups of the keys that lead to the records of other tables. Each part is read when it is first needed. */
export type References = ReturnType<typeof referencesIn>;

export function referencesIn({ expiry, splits, queues, queuesOfNodeBuild, ciRuns, paths, pathNames }: Parts) {
  const splitIds = once(() => new Set(splits.getRange().map(({ value }) => value.id)));
  return {
    /** The builds, splits, queues and reported cases that have an entry in `expiry`. */
    expiring: once(() => {
      const found = new Set<string | number>();
      for (const [, kind, ...key] of expiry.getKeys()) {
        if (kind === 'split') found.add(key[1]!);
        else if (kind === 'queue' || kind === 'build') found.add(key[0]!);
        else if (kind === 'cases') found.add(key.join(' '));
      }
      return found;
    }),
    /** Reports whether a split or queue exists. */
    exists: (id: string, kinds: 'split' | 'queue' | 'split or queue') =>
      (kinds !== 'queue' && splitIds().has(id)) || (kinds !== 'split' && queues.doesExist(id)),
    /** The first key that leads to each queue, by its id. */
    keysOfQueues: once(() => {
      const found = new Map<string, string>();
      for (const { key, value: id } of queuesOfNodeBuild.getRange()) if (!found.has(id)) found.set(id, key);
      return found;
    }),
    /** The ids of the CI runs. */
    ciRuns: once(() => new Set(ciRuns.getKeys().map(([, , id]) => id))),
    /** The numbers that paths lead to. */
    pathNumbers: once(() => new Set(paths.getRange().map(({ value }) => value))),
    /** The numbers that have a name. */
    namedPaths: once(() => new Set(pathNames.getKeys())),
  };
}

function once<T extends object>(read: () => T): () => T {
  let value: T | undefined;
  return () => (value ??= read());
}
