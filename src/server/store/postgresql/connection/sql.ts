/** A statement with a longer list is planned each time. One statement has fewer runs, and fewer queues of a flight. */
export const KEPT_PLAN_VALUES = 100;
/** Paths that one statement reads. */
export const PATHS_PER_STATEMENT = 5000;

/** Milliseconds since 1970, on the clock of the database. */
export const NOW = 'floor(extract(epoch from clock_timestamp()) * 1000)::int8';

/** Writes the row of a process. */
const commitOf = (process: string) =>
  `insert into processes (id, seen_at) values (${process}, ${NOW})
  on conflict (id) do update set commits = processes.commits + 1, seen_at = excluded.seen_at`;

/**
 * A statement that always writes, namely the row of its process. Its commit then comes after the commits of all rows that the statement saw.
 * A statement that makes a table cannot do this: the change that follows it does. One that changes the row runs again as it is.
 */
export function withCommit(text: string, values: readonly unknown[], process: string): [text: string, values: unknown[]] {
  if (/^(create|(insert into|delete from) processes) /.test(text)) return [text, [...values]];
  const rest = text.startsWith('with ') ? `, ${text.slice('with '.length)}` : ` ${text}`;
  return [`with committed as (${commitOf(`$${values.length + 1}`)})${rest}`, [...values, process]];
}

/**
 * Each text is prepared once on each connection, under its own name, and keeps its plan. With a long list it is planned each time: a plan that is
 * kept was made for lists of any length, and for tables as small as they were then.
 */
const names = new Map<string, string>();

export function nameOf(text: string, values: readonly unknown[]): string | undefined {
  if (values.some(value => Array.isArray(value) && value.length > KEPT_PLAN_VALUES)) return undefined;
  let name = names.get(text);
  if (name === undefined) names.set(text, (name = `ballast_${names.size}`));
  return name;
}

/** The columns of rows that are values of a statement: the type of each one, and what a row has there. */
export type Columns<Row> = Record<string, [type: string, of: (row: Row) => unknown]>;

/** Adds rows to the values of a statement, a list for each column. Returns them as an item of FROM; `nth` counts them from 1. */
export function rowsOf<Row>(name: string, columns: Columns<Row>, rows: readonly Row[], values: unknown[]): string {
  const lists = Object.values(columns).map(([type, of]) => `$${values.push(rows.map(of))}::${type}[]`);
  return `unnest(${lists.join(', ')}) with ordinality as ${name} (${Object.keys(columns).join(', ')}, nth)`;
}
