import type { Build } from '../../engine/ports/builds.js';
import type { Failures } from '../../engine/ports/failures.js';
import { decodeFailures, encodeFailures } from '../codecs/failures.js';
import type { Tables } from './tables.js';
import { type Committing, commit } from './writes/commit.js';

export function lmdbFailures(parts: Pick<Tables, 'builds' | 'failures'> & Committing) {
  const { builds, failures } = parts;
  return {
    async put({ project, number, id }, failed) {
      const key: [number, number] = [project, number];
      if (!failed && !failures.doesExist(key)) return;
      await commit(parts, () => {
        if (builds.get(number)?.id !== id) return;
        void (failed ? failures.put(key, encodeFailures(failed)) : failures.remove(key));
      });
    },
    of({ project, number }) {
      const record = failures.get([project, number]);
      return record ? decodeFailures(record) : null;
    },
    newest(project, limit) {
      const range = { start: [project, Infinity] as never, end: [project, 0] as never, reverse: true, limit };
      return [...failures.getRange(range)].flatMap(({ key: [, number], value }) => {
        const build = builds.get(number);
        return build ? { build: { number, ...build } satisfies Build, failures: decodeFailures(value) } : [];
      });
    },
  } satisfies Failures;
}
