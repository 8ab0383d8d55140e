import { segment } from '../../../base/bytes.js';
import { digest } from '../../engine/keys.js';
import { decodeCases, partsOf, REPORT_BYTES_PER_CHANGE } from '../../engine/pieces/case-report.js';
import type { Cases, KeptCases } from '../../engine/ports/cases.js';
import type { Database } from './connection/database.js';

export function postgresqlCases(database: Database) {
  return {
    async keep(project, encoded, at) {
      const { places, reports } = encoded;
      let from = 0;
      for (const end of partsOf(encoded, REPORT_BYTES_PER_CHANGE)) {
        const part = places.slice(from, end);
        const texts = part.map((_, i) => segment(reports, from + i).toString());
        from = end;
        await database.change(
          `insert into cases (project, file, piece, at, report)
          select id, v.file, v.piece, $5, v.report
          from projects, unnest($2::text[], $3::int4[], $4::text[]) as v (file, piece, report)
          where id = $1 and deleted_at is null order by file, piece
          on conflict (project, file, piece) do update set at = excluded.at, report = excluded.report`,
          [project, part.map(({ file }) => digest(file)), part.map(({ piece }) => piece), texts, Math.floor(at)],
        );
      }
    },
    async of(project, file, mostBytes) {
      const rows = await database.read<{ at: number; bytes: number; report: string | null }>(
        `select at, bytes, case when bytes <= $3 then report end as report
        from (select *, sum(octet_length(report)) over () as bytes from cases where project = $1 and file = $2) c order by piece`,
        [project, digest(file), mostBytes],
      );
      const kept: KeptCases[] = [];
      for (const { at, report } of rows) {
        if (report === null) return null;
        kept.push({ ...decodeCases(report), at });
      }
      return { kept: kept.filter(report => report.file === file), bytes: rows[0]?.bytes ?? 0 };
    },
  } satisfies Cases;
}
