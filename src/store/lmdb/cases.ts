import { digest } from '../../engine/keys.js';
import type { ToldCases } from '../../engine/pieces/told-cases.js';
import type { Cases } from '../../engine/ports/cases.js';
import type { Millis } from '../../engine/ports/store.js';
import type { CasesKey } from './records.js';
import type { Tables } from './tables.js';
import { type Committing, commit } from './writes/commit.js';

type CasesParts = Pick<Tables, 'cases' | 'projects' | 'expiry'> & Committing;

export function lmdbCases(parts: CasesParts) {
  const { cases, projects, expiry } = parts;
  return {
    async tell(project, told, at) {
      if (told.length === 0) return;
      await commit(parts, () => {
        const record = projects.get(project);
        if (!record || record.deleted_at !== undefined) return;
        for (const one of told) {
          const [, file] = keyOf(project, one);
          // One entry leads to all pieces of the file.
          if (cases.getKeysCount({ ...ofFile(project, file), limit: 1 }) === 0) void expiry.put([at, 'cases', project, file], true);
          void cases.put(keyOf(project, one), { ...one, at });
        }
      });
    },
    of: (project, files) =>
      files.map(file => Array.from(cases.getRange(ofFile(project, digest(file))), ({ value }) => value).filter(told => told.file === file)),
  } satisfies Cases;
}

function keyOf(project: number, { file, piece }: ToldCases): CasesKey {
  return [project, digest(file), piece?.number ?? 0];
}

function ofFile(project: number, file: string): { start: CasesKey; end: CasesKey } {
  return { start: [project, file, 0], end: [project, file, Infinity] };
}

/** When something was last told of a file, by its key; null: nothing is kept. */
export function lastTold({ cases }: Pick<Tables, 'cases'>, [project, file]: readonly [number, string]): Millis | null {
  const times = Array.from(cases.getRange(ofFile(project, file)), ({ value }) => value.at);
  return times.length === 0 ? null : Math.max(...times);
}

/** Deletes what was told of a file, within a write transaction. Returns how many records that were. */
export function deleteCases({ cases }: Pick<Tables, 'cases'>, [project, file]: readonly [number, string]): number {
  const keys = [...cases.getKeys(ofFile(project, file))];
  for (const key of keys) void cases.remove(key);
  return keys.length;
}
