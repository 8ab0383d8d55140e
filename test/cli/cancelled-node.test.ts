import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { getCompleteness } from '../harness/completeness.js';
import { sortPaths } from '../harness/messages.js';
import { plainEnvironment } from '../harness/process.js';
import { SharedServer } from '../harness/server.js';
import { MAIN } from '../testbed/server.js';
import { BUILD, TestProject } from './test-project.js';

const shared = new SharedServer();
const FILES = Array.from({ length: 8 }, (_, i) => `test/${'x'.repeat(i + 1)}.test.js`);
const ARGS = ['queue', 'test/*.test.js', '--junit', 'reports/*.xml'];

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('gives what did not pass to the next node at %s, and the gate passes', async signal => {
  const [server, suite] = [await shared.project(), new TestProject(FILES)];
  const node = (index: number, more: NodeJS.ProcessEnv = {}) =>
    suite.environment(server, index, { REPORT: `reports/${index}-%.xml`, ...more });
  // Its report has no result for some of its files.
  const child = spawn(process.execPath, [MAIN, ...ARGS, ...suite.runner], {
    cwd: suite.folder,
    env: plainEnvironment(node(0, { HANGS: signal, SILENT: FILES.filter((_, i) => i % 2 === 0).join(',') })),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const began = [...suite.ran];
  child.kill(signal);
  expect((await once(child, 'exit'))[0]).not.toBe(0);
  expect((await suite.run(server, 1, [...ARGS, ...suite.runner], { REPORT: 'reports/1-%.xml' })).code).toBe(0);
  const given = began.filter(path => FILES.indexOf(path) % 2 === 0);
  expect(given.length).toBeGreaterThan(0);
  expect(sortPaths(suite.ran.slice(began.length))).toEqual(sortPaths([...FILES.filter(path => !began.includes(path)), ...given]));
  const { status, json } = await getCompleteness(server, { ...BUILD, node_build_id: '7' });
  expect([status, json.errors]).toEqual([200, []]);
  expect(json.handed_on.map(({ path }: any) => path).toSorted()).toEqual(given.toSorted());
});
