import { databaseWithoutTables } from '../harness/postgresql-store.js';
import { problemsInDatabase } from '../harness/problems.js';
import { ADD_COLUMNS, RAISE_SCHEMA, statement } from '../testbed/postgresql.js';
import { describeUpgrades } from './upgrades.js';

describeUpgrades('database', {
  async newPlace() {
    const databaseUrl = await databaseWithoutTables();
    return { place: { databaseUrl }, path: databaseUrl };
  },
  problemsIn: problemsInDatabase,
  async addFields(url) {
    await statement(url, ADD_FIELDS);
    await statement(url, ADD_COLUMNS);
  },
  raiseFormat: async url => void (await statement(url, RAISE_SCHEMA)),
});

/** A field in each record that is JSON. */
const ADD_FIELDS = `do $$
  declare found record;
  begin
    for found in select table_name, column_name from information_schema.columns where table_schema = 'public' and data_type = 'text' loop
      execute format(
        $sql$ update %1$I set %2$I = '{"of_a_newer_version":{"is":[1]},' || substr(%2$I, 2) where %2$I like '{"%%' $sql$,
        found.table_name, found.column_name);
    end loop;
  end $$`;
