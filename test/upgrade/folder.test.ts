import { openTables, STORE_VERSION } from '../../src/server/store/lmdb/tables.js';
import { problemsIn } from '../harness/problems.js';
import { temporaryFolder } from '../harness/temporary-folder.js';
import { describeUpgrades } from './upgrades.js';

describeUpgrades('folder', {
  async newPlace() {
    const dataDir = temporaryFolder();
    return { place: { dataDir }, path: dataDir };
  },
  problemsIn,
  async addFields(dataDir) {
    const { root, ...tables } = openTables(dataDir);
    await root.transaction(() => {
      for (const table of Object.values(tables) as (typeof tables.projects)[])
        for (const { key, value } of [...table.getRange()])
          if (Object.getPrototypeOf(value) === Object.prototype)
            void table.put(key, { ...value, of_a_newer_version: { is: [1] } } as typeof value);
    });
    await root.close();
  },
  async raiseFormat(dataDir) {
    const { root, meta } = openTables(dataDir);
    await meta.put('version', STORE_VERSION + 1);
    await root.close();
  },
});
