/**
 * A statement that reads the rows which have the values of `$1` in a unique column, each looked up by itself. For `= any($1)` the planner may
 * choose to read the whole table, and a statement keeps the plan that it got when the table was small.
 *
 * @param columns what is read
 * @param type of the values
 */
export function lookUp(columns: string, table: string, column: string, type: 'int4' | 'text' | 'bytea'): string {
  return `select f.* from unnest($1::${type}[]) as v (value)
    cross join lateral (select ${columns} from ${table} where ${column} = v.value limit 1) f`;
}
