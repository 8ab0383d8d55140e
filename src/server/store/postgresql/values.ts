import type { Password } from '../../engine/ports/sign-ins.js';
import type { KeptValues, Values } from '../../engine/ports/values.js';
import type { Database } from './connection/database.js';
import { fromJson } from './json.js';
import { changePassword } from './sign-ins.js';

const KEEP = 'insert into kept_values (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value';
const ADD = 'insert into kept_values (name, value) values ($1, $2) on conflict (name) do nothing';
const REMOVE = 'delete from kept_values where name = $1';

export function postgresqlValues(database: Database) {
  async function get<Name extends keyof KeptValues>(name: Name) {
    const [row] = await database.read<{ value: string }>('select value from kept_values where name = $1', [name]);
    return fromJson<KeptValues[Name]>(row?.value);
  }
  return {
    get,
    async add<Name extends keyof KeptValues>(name: Name, value: KeptValues[Name]) {
      await database.change(ADD, [name, JSON.stringify(value)]);
      return (await get(name))!;
    },
    async put(name, value) {
      const [text, values] = value === null ? [REMOVE, [name]] : [KEEP, [name, JSON.stringify(value)]];
      if (name === 'password') await changePassword(database, text, values, (value as Password | null)?.hash ?? null);
      else await database.change(text, values);
    },
  } satisfies Values;
}
