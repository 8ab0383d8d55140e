import { segment } from '../../../base/bytes.js';
import { digest } from '../../engine/keys.js';
import { type CasesPlace, decodeCases, partsOf, REPORT_BYTES_PER_CHANGE } from '../../engine/pieces/case-report.js';
import type { Cases } from '../../engine/ports/cases.js';
import type { CasesKey, CasesRecord } from './records.js';
import type { Tables } from './tables.js';
import { type Committing, commit } from './writes/commit.js';

type CasesParts = Pick<Tables, 'cases' | 'projects' | 'expiry'> & Committing;

export function lmdbCases(parts: CasesParts) {
  const { cases, projects, expiry } = parts;
  return {
    async keep(project, encoded, at) {
      const { places, reports } = encoded;
      let next = 0;
      for (const end of partsOf(encoded, REPORT_BYTES_PER_CHANGE)) {
        await commit(parts, () => {
          const record = projects.get(project);
          for (; next < end; next++) {
            if (!record || record.deleted_at !== undefined) continue;
            const key = keyOf(project, places[next]!);
            if (!cases.doesExist(key)) void expiry.put([at, 'cases', ...key], true);
            void cases.put(key, { at, report: segment(reports, next) });
          }
        });
      }
    },
    of(project, file, mostBytes) {
      const key = digest(file);
      const records: CasesRecord[] = [];
      let bytes = 0;
      for (const { value } of cases.getRange({ start: [project, key, -Infinity], end: [project, key, Infinity] })) {
        bytes += value.report.length;
        if (bytes > mostBytes) return null;
        records.push(value);
      }
      const kept = records.map(({ at, report }) => ({ ...decodeCases(report.toString()), at }));
      return { kept: kept.filter(report => report.file === file), bytes };
    },
  } satisfies Cases;
}

function keyOf(project: number, { file, piece }: CasesPlace): CasesKey {
  return [project, digest(file), piece];
}
