import { segment } from '../../../base/bytes.js';
import { digest } from '../../engine/keys.js';
import { decodeCases, partsOf, TOLD_BYTES_PER_CHANGE } from '../../engine/pieces/told-cases.js';
import type { Cases, KeptCases } from '../../engine/ports/cases.js';
import type { Database } from './connection/database.js';

export function postgresqlCases(database: Database) {
  return {
    async tell(project, encoded, at) {
      const { places, told } = encoded;
      let from = 0;
      for (const end of partsOf(encoded, TOLD_BYTES_PER_CHANGE)) {
        const part = places.slice(from, end);
        const texts = part.map((_, i) => segment(told, from + i).toString());
        from = end;
        await database.change(
          `insert into cases (project, file, piece, at, told)
          select id, v.file, v.piece, $5, v.told
          from projects, unnest($2::text[], $3::int4[], $4::text[]) as v (file, piece, told)
          where id = $1 and deleted_at is null order by file, piece
          on conflict (project, file, piece) do update set at = excluded.at, told = excluded.told`,
          [project, part.map(({ file }) => digest(file)), part.map(({ piece }) => piece), texts, Math.floor(at)],
        );
      }
    },
    async of(project, file, mostBytes) {
      const rows = await database.read<{ at: number; bytes: number; told: string | null }>(
        `select at, bytes, case when bytes <= $3 then told end as told
        from (select *, sum(octet_length(told)) over () as bytes from cases where project = $1 and file = $2) c order by piece`,
        [project, digest(file), mostBytes],
      );
      const kept: KeptCases[] = [];
      for (const { at, told } of rows) {
        if (told === null) return null;
        kept.push({ ...decodeCases(told), at });
      }
      return { kept: kept.filter(told => told.file === file), bytes: rows[0]?.bytes ?? 0 };
    },
  } satisfies Cases;
}
