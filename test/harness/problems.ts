import { sentenceOf } from '../../src/server/store/check/problem.js';
import { problemsOf } from '../../src/server/store/lmdb/check/check.js';
import { openParts } from '../../src/server/store/lmdb/parts.js';
import { problemsOf as problemsOfDatabase } from '../../src/server/store/postgresql/check.js';
import { Database } from '../../src/server/store/postgresql/connection/database.js';
import { databaseFor } from './postgresql-store.js';
import { isOnDisk } from './server.js';

/** Returns the problems that `ballast check` finds. A server in this process must be closed first: two stores on one file may block each other. */
export async function problemsIn(dataDir: string): Promise<string[]> {
  if (!isOnDisk) return problemsInDatabase((await databaseFor(dataDir)).url);
  const parts = openParts(dataDir);
  const sentences = [...problemsOf(parts, () => {})].map(sentenceOf);
  // Only the file: a running server may have the rest open.
  await parts.root.close();
  return sentences;
}

export async function problemsInDatabase(url: string): Promise<string[]> {
  const database = new Database({ url, connections: 1 });
  const sentences: string[] = [];
  for await (const problem of problemsOfDatabase(database, () => {})) sentences.push(sentenceOf(problem));
  await database.close();
  return sentences;
}
