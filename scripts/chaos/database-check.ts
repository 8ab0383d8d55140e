import { sentenceOf } from '../../src/server/store/check/problem.js';
import { problemsOf } from '../../src/server/store/postgresql/check.js';
import { Database } from '../../src/server/store/postgresql/connection/database.js';

/** Checks a database that servers may use. Returns a sentence for each problem. */
export async function checkDatabase(url: string): Promise<string[]> {
  const database = new Database({ url, connections: 2 });
  try {
    const problems: string[] = [];
    for await (const problem of problemsOf(database, () => {})) problems.push(sentenceOf(problem));
    return problems;
  } finally {
    await database.close();
  }
}
