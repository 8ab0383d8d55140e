import { segment } from '../../bytes.js';
import { digest } from '../../engine/keys.js';
import { type CasesPlace, decodeCases, partsOf } from '../../engine/pieces/told-cases.js';
import type { Cases } from '../../engine/ports/cases.js';
import { limits } from '../../limits.js';
import type { CasesKey } from './records.js';
import type { Tables } from './tables.js';
import { type Committing, commit } from './writes/commit.js';

type CasesParts = Pick<Tables, 'cases' | 'projects' | 'expiry'> & Committing;

export function lmdbCases(parts: CasesParts) {
  const { cases, projects, expiry } = parts;
  return {
    async tell(project, encoded, at) {
      const { places, told } = encoded;
      let next = 0;
      for (const end of partsOf(encoded, limits.toldBytesPerChange)) {
        await commit(parts, () => {
          const record = projects.get(project);
          for (; next < end; next++) {
            if (!record || record.deleted_at !== undefined) continue;
            const key = keyOf(project, places[next]!);
            if (!cases.doesExist(key)) void expiry.put([at, 'cases', ...key], true);
            void cases.put(key, { at, told: segment(told, next) });
          }
        });
      }
    },
    of: (project, files) =>
      files.map(file => {
        const key = digest(file);
        const kept = cases.getRange({ start: [project, key, -Infinity], end: [project, key, Infinity] });
        const told = Array.from(kept, ({ value: { at, told } }) => ({ ...decodeCases(told.toString()), at }));
        return told.filter(one => one.file === file);
      }),
  } satisfies Cases;
}

function keyOf(project: number, { file, piece }: CasesPlace): CasesKey {
  return [project, digest(file), piece];
}
