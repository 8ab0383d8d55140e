import { digest } from '../../engine/keys.js';
import type { ToldCases } from '../../engine/pieces/told-cases.js';
import type { Cases, KeptCases } from '../../engine/ports/cases.js';
import type { Database } from './database.js';

export function postgresqlCases(database: Database) {
  return {
    async tell(project, told, at) {
      if (told.length === 0) return;
      // One row for each key, or the statement would change a row twice.
      const rows = [...new Map(told.map(one => [`${digest(one.file)} ${one.piece?.number ?? 0}`, one])).entries()].sort();
      await database.change(
        `insert into cases (project, file, piece, at, told)
        select id, v.file, v.piece, $5, v.told
        from projects, unnest($2::text[], $3::int4[], $4::text[]) as v (file, piece, told)
        where id = $1 and deleted_at is null
        on conflict (project, file, piece) do update set at = excluded.at, told = excluded.told`,
        [
          ...[project, rows.map(([, { file }]) => digest(file)), rows.map(([, { piece }]) => piece?.number ?? 0)],
          ...[rows.map(([, one]) => JSON.stringify(one)), Math.floor(at)],
        ],
      );
    },
    async of(project, files) {
      const rows = await database.read<{ file: string; at: number; told: string }>(
        `select c.* from unnest($2::text[]) as v (file)
        cross join lateral (select file, at, told from cases where project = $1 and file = v.file order by piece) c`,
        [project, [...new Set(files.map(file => digest(file)))]],
      );
      const kept = rows.map(({ at, told }): KeptCases => ({ ...(JSON.parse(told) as ToldCases), at }));
      return files.map(file => kept.filter(told => told.file === file));
    },
  } satisfies Cases;
}
