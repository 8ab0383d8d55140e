import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { getCompleteness } from '../harness/completeness.js';
import { runBallast } from '../harness/process.js';
import { startServer } from '../harness/server.js';
import { temporaryFolder } from '../harness/temporary-folder.js';

const packages = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const build = { commit_hash: 'c0ffee3', branch: 'main', node_total: 2 };

interface Runner {
  file: (i: number) => string;
  text: (isFailing: boolean) => string;
  command: readonly string[];
}

const jest: Runner = {
  file: i => `test/${i}.test.js`,
  text: isFailing => `test('one', () => expect(${isFailing}).toBe(false));\n`,
  command: ['node_modules/jest/bin/jest.js', '--reporters=jest-junit', '--runTestsByPath', '{}'],
};
const vitest: Runner = {
  file: i => `test/${i}.test.mjs`,
  text: isFailing => `import { expect, test } from 'vitest';\ntest('one', () => expect(${isFailing}).toBe(false));\n`,
  command: ['node_modules/vitest/vitest.mjs', 'run', '--reporter=junit', '--outputFile=junit.xml', '{}'],
};

describe('ballast queue with a real runner', () => {
  it.each([
    ['jest, and jest-junit', jest],
    ['vitest', vitest],
  ])('runs %s and gets the time and failures of each file', { timeout: 120_000 }, async (_, { file, text, command }) => {
    const [server, folder] = [await startServer(), temporaryFolder()];
    const files = [0, 1].map(file);
    mkdirSync(join(folder, 'test'));
    writeFileSync(
      join(folder, 'package.json'),
      JSON.stringify({ name: 'made-up', jest: { testEnvironment: 'node', transform: {}, cacheDirectory: join(folder, 'cache') } }),
    );
    symlinkSync(packages, join(folder, 'node_modules'));
    for (const [i, path] of files.entries()) writeFileSync(join(folder, path), text(i === 1));
    const queue = (node: number) =>
      runBallast(
        ['queue', 'test/*.test.*', '--junit', 'junit.xml', '--', process.execPath, ...command],
        {
          // The environment of this vitest must not reach the runner.
          ...Object.fromEntries(
            Object.keys(process.env)
              .filter(name => /^(VITEST|JEST|TEST$|NODE_ENV)/.test(name))
              .map(name => [name, undefined]),
          ),
          ...{ BALLAST_URL: server.url, BALLAST_TOKEN: server.token },
          ...{ BALLAST_NODE_INDEX: String(node), BALLAST_NODE_TOTAL: '2', BALLAST_BUILD_ID: '7' },
          ...{ BALLAST_COMMIT_HASH: build.commit_hash, BALLAST_BRANCH: build.branch, JEST_JUNIT_ADD_FILE_ATTRIBUTE: 'true' },
        },
        { cwd: folder },
      );
    const red = await queue(0);
    expect(red.stderr).not.toContain('WARNING');
    expect(red.code).toBe(1);
    const { json } = await getCompleteness(server, { ...build, node_build_id: '7' });
    expect(json).toMatchObject({ is_complete: true, recorded: 2, recorded_without_time: [] });

    writeFileSync(join(folder, files[1]!), text(false));
    expect((await queue(0)).code).toBe(0);
    const { json: builds } = await server.get('/v1/builds');
    const { json: detail } = await server.get(`/v1/builds/${builds.data[0].id}`);
    const again = detail.build_subsets
      .map((subset: any) => subset.test_files.map(({ path }: any) => path))
      .find((paths: string[]) => paths.length === 1);
    expect(again).toEqual([files[1]]);
  });
});
