import { digest } from '../../engine/keys.js';
import type { ToldCases } from '../../engine/pieces/told-cases.js';
import type { Cases } from '../../engine/ports/cases.js';
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
          const key = keyOf(project, one);
          if (!cases.doesExist(key)) void expiry.put([at, 'cases', ...key], true);
          void cases.put(key, { ...one, at });
        }
      });
    },
    of: (project, files) =>
      files.map(file => {
        const key = digest(file);
        const kept = cases.getRange({ start: [project, key, 0], end: [project, key, Infinity] });
        return Array.from(kept, ({ value }) => value).filter(told => told.file === file);
      }),
  } satisfies Cases;
}

function keyOf(project: number, { file, piece }: ToldCases): CasesKey {
  return [project, digest(file), piece?.number ?? 0];
}
