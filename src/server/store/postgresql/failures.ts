import type { Failures } from '../../engine/ports/failures.js';
import { decodeFailures, encodeFailures } from '../codecs/failures.js';
import { BUILD, type BuildRow, toBuild } from './builds.js';
import type { Database } from './connection/database.js';

export function postgresqlFailures(database: Database) {
  return {
    async put({ number, id }, failures) {
      if (!failures) {
        await database.change('delete from failures where build = $1', [number]);
        return;
      }
      await database.change(
        `with b as (
          select project, number from builds where number = $1 and id = $2 for key share
        )
        insert into failures (build, project, record) select number, project, $3 from b
        on conflict (build) do update set record = excluded.record`,
        [number, id, encodeFailures(failures)],
      );
    },
    async of({ number }) {
      const [row] = await database.read<{ record: Buffer }>('select record from failures where build = $1', [number]);
      return row ? decodeFailures(row.record) : null;
    },
    async newest(project, limit) {
      const rows = await database.read<BuildRow & { record: Buffer }>(
        `select b.*, f.record from (
          select build, record from failures where project = $1 order by build desc limit $2
        ) f cross join lateral (select ${BUILD} from builds where number = f.build limit 1) b order by f.build desc`,
        [project, limit],
      );
      return rows.map(({ record, ...row }) => ({ build: toBuild(row), failures: decodeFailures(record) }));
    },
  } satisfies Failures;
}
