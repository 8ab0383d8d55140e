import { withSeenAt } from '../codecs/timing-codec.js';
import type { Database } from '../postgresql/connection/database.js';
import { lastNumber, setIdentity } from '../postgresql/schema.js';
import { columnsOf, MOVED, type MovedTable, type Row, type Side } from './move.js';

/** Rows that are read at once. */
const SOME = 200;

/** Conditions of rows that move: a build without runs waits for the sweep, as does a day on which nothing counts. */
const CONDITIONS: Partial<Record<MovedTable, string>> = { builds: 'not is_empty', days: 'counted > 0' };

const NUMBERS = {
  ballast: async () => `select 'last_ordinal' as name,
    greatest((select max(recorded) from builds where is_empty), (select value from ballast where name = 'last_ordinal')) as value`,
  async identities(database: Database) {
    const [builds, projects] = [await lastNumber(database, 'builds', 'number'), await lastNumber(database, 'projects', 'id')];
    return `select 'builds' as name, ${builds} as value union all select 'projects', ${projects}`;
  },
};

/** A database whose tables are made, and in which all recorded times count. */
export function databaseSide(database: Database): Side {
  return {
    async *rows(table) {
      if (table === 'ballast' || table === 'identities') {
        for (const row of await database.read<Row>(await NUMBERS[table](database))) if (row.value !== null && row.value !== 0) yield row;
        return;
      }
      const { key } = MOVED[table];
      const keys = key.split(', ');
      const selected = [...new Set([...columnsOf(table).map(([name]) => name), ...keys])].join(', ');
      const condition = CONDITIONS[table] ?? 'true';
      for (let last: Row | undefined, rows: Row[] = []; !last || rows.length === SOME; last = rows.at(-1)) {
        const after = last ? `(${key}) > (${keys.map((_, i) => `$${i + 1}`).join(', ')})` : 'true';
        const text = `select ${selected} from ${table} where ${condition} and ${after} order by ${key} limit ${SOME}`;
        rows = await database.read<Row>(text, last ? keys.map(column => last![column]) : []);
        if (rows.length === 0) return;
        for (const row of rows) yield table === 'paths' ? toPath(row) : row;
      }
    },
    async put(table, rows) {
      if (table === 'identities') {
        for (const { name, value } of rows)
          await database.change(`select setval(pg_get_serial_sequence($1, $2), $3)`, [name, name === 'builds' ? 'number' : 'id', value]);
        return;
      }
      const columns = columnsOf(table);
      const names = columns.map(([name]) => name).join(', ');
      const arrays = columns.map(([, type], i) => `$${i + 1}::${type}[]`).join(', ');
      await database.change(
        `insert into ${table} (${names}) select * from unnest(${arrays}) on conflict do nothing`,
        columns.map(([name]) => rows.map(row => row[name])),
      );
      if (table === 'paths') await setIdentity(database, 'paths', 'number');
    },
  };
}

/** When a path was last seen is in its row; a folder has it in the timings. */
function toPath(row: Row): Row {
  const timings = row.timings as Buffer | null;
  return { ...row, timings: timings && withSeenAt(timings, row.seen_at as number) };
}
