import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import pg from 'pg';
import { STATEMENTS } from '../../src/server/store/postgresql/schema.js';
import { statement } from '../testbed/postgresql.js';
import type { Past } from './past.js';
import type { Answered } from './questions.js';

/** Where the fixtures are: a folder for each version, and in it one for each kind of store. */
export const FIXTURES = fileURLToPath(new URL('../../../test/upgrade/fixtures', import.meta.url));

export type Kind = 'folder' | 'database';

/** The files of a folder's store, as a killed server leaves them. */
const STORE_FILES = ['ballast.lmdb', 'journal-0', 'journal-1'];
const DUMP = 'database.sql';
const PAST = 'past.json';
const ANSWERS = 'answers.jsonl';

/** A store that a version of Ballast wrote, and what it answered. Every file is compressed. */
export class Fixture {
  readonly #folder: string;

  constructor(
    readonly version: string,
    readonly kind: Kind,
  ) {
    this.#folder = join(FIXTURES, version, kind);
  }

  /** Keeps a store in place of what was there. @param place its folder, or the URL of its database */
  async keep(place: string, past: Past): Promise<void> {
    rmSync(this.#folder, { recursive: true, force: true });
    mkdirSync(this.#folder, { recursive: true });
    if (this.kind === 'database') this.#write(DUMP, await dumpOf(place));
    else for (const name of STORE_FILES) this.#write(name, readFileSync(join(place, name)));
    this.#write(PAST, JSON.stringify(past));
  }

  keepAnswers(answers: readonly Answered[]): void {
    this.#write(ANSWERS, answers.map(answer => `${JSON.stringify(answer)}\n`).join(''));
  }

  /** Puts its store into an empty folder or database. */
  async restore(place: string): Promise<void> {
    if (this.kind === 'folder') for (const name of STORE_FILES) writeFileSync(join(place, name), this.#read(name), { mode: 0o600 });
    else await statement(place, this.#read(DUMP).toString());
  }

  get past(): Past {
    return JSON.parse(this.#read(PAST).toString()) as Past;
  }

  get answers(): Answered[] {
    const lines = this.#read(ANSWERS).toString().trimEnd().split('\n');
    return lines.map(line => JSON.parse(line) as Answered);
  }

  #write(name: string, content: string | Buffer): void {
    writeFileSync(join(this.#folder, `${name}.gz`), gzipSync(content, { level: 9 }));
  }

  #read(name: string): Buffer {
    return gunzipSync(readFileSync(join(this.#folder, `${name}.gz`)));
  }
}

/** The fixtures of a kind, oldest version first. */
export function fixturesOf(kind: Kind): Fixture[] {
  const versions = readdirSync(FIXTURES).filter(version => existsSync(join(FIXTURES, version, kind)));
  return versions.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })).map(version => new Fixture(version, kind));
}

/** Statements that make a database again: its tables as this version makes them, and what they contain. */
async function dumpOf(url: string): Promise<string> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const statements = [...STATEMENTS];
    const tables = await client.query<{ name: string }>("select tablename as name from pg_tables where schemaname = 'public' order by 1");
    for (const { name } of tables.rows) {
      const rows = await client.query<{ json: string | null }>(`select json_agg(t order by t::text)::text as json from ${name} t`);
      const { json } = rows.rows[0]!;
      if (json !== null) statements.push(`insert into ${name} select * from json_populate_recordset(null::${name}, $rows$${json}$rows$)`);
    }
    const sequences = await client.query<{ name: string; last: string }>(
      'select sequencename as name, last_value::text as last from pg_sequences where last_value is not null order by 1',
    );
    for (const { name, last } of sequences.rows) statements.push(`select setval('${name}', ${last})`);
    return statements.map(text => `${text};\n`).join('');
  } finally {
    await client.end();
  }
}
