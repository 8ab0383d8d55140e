import type { Database, Key } from 'lmdb';
import { projectsOf } from '../../../src/server/store/lmdb/check/project-of.js';
import { openParts } from '../../../src/server/store/lmdb/parts.js';

/**
 * All records of a project in a folder that no server has open, by table and key. When a token was last used is left out: the project itself uses
 * its own.
 */
export async function recordsOf(project: number, dataDir: string): Promise<Map<string, string>> {
  const parts = openParts(dataDir);
  const projectOf = projectsOf(parts);
  const records = new Map<string, string>();
  for (const [name, table] of Object.entries(parts as unknown as Record<string, Database<unknown, Key>>)) {
    if (name === 'root' || typeof table?.getRange !== 'function') continue;
    for (const { key, value } of table.getRange()) {
      const copy = Buffer.isBuffer(value) ? Buffer.from(value.subarray(0, value.length)) : value;
      if (projectOf(name, key, value) === project)
        records.set(`${name} ${JSON.stringify(key)}`, JSON.stringify(name === 'tokens' ? { ...(copy as object), used_at: null } : copy));
    }
  }
  await parts.root.close();
  return records;
}
