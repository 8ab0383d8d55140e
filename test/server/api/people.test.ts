import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { initialise, manyPaths, startSplit, subsetMessage } from '../../harness/messages.js';
import { startServerOnDisk } from '../../harness/server.js';

const people = {
  user_seat: 'Wilhelmina Zebrowski',
  build_author: 'Wilhelmina Zebrowski <wilhelmina@zebrowski.example>',
  commit_authors: [{ commits: 3, author: 'Wilhelmina Zebrowski <wilhelmina@zebrowski.example>' }],
};

describe('people', () => {
  it.each([
    ['a small', 3],
    ['a large', 1500],
  ])('are neither stored nor logged, masked or not, with %s suite', async (_, count) => {
    const server = await startServerOnDisk({ logLevel: 'trace', workers: '1' });
    const paths = manyPaths(count);
    expect((await startSplit(server, paths, people)).status).toBe(200);
    expect((await initialise(server, paths, people)).status).toBe(200);
    expect((await server.post('/v1/build_subsets', subsetMessage(people))).status).toBe(201);
    // A refused message is not logged either.
    expect((await startSplit(server, ['ab'], { ...people, branch: 'other' })).status).toBe(422);
    await server.close();
    const stored = readdirSync(server.dataDir)
      .map(name => readFileSync(join(server.dataDir, name), 'latin1'))
      .join('');
    for (const place of [stored, server.log.join('')]) expect(place).not.toMatch(/wilhelmina|zebrowski|Wi\*\*\*\*/i);
  });
});
