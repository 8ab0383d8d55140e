import { expect, it, onTestFinished, vi } from 'vitest';
import { Api } from '../../../src/node/client/api.js';
import { TestCases } from '../../../src/node/pieces/test-cases.js';
import { piecePath } from '../../../src/protocol/piece-path.js';
import { TOKEN } from '../../harness/client.js';
import { buildKey } from '../../harness/messages.js';
import { startServer } from '../../harness/server.js';

const file = 'spec/größe_spec.rb';
const node = { ...buildKey, node_index: 0, build_id: '1' };
const passed = (name: string) => ({ name, seconds: 1.0123456789, outcomes: { passed: 1 } });

it('a node tells all pieces that it ran, whatever their number and size, in requests that the server takes', async () => {
  const server = await startServer();
  const post = vi.spyOn(Api.prototype, 'post');
  onTestFinished(() => post.mockRestore());
  const testCases = new TestCases('rspec');
  const pathOf = (number: number) => piecePath({ file, number, count: 99 });
  const long = Array.from({ length: 31 }, (_, i) => passed(`${i} `.padEnd(4096, 'größe')));
  const many = Array.from({ length: 5000 }, (_, i) => passed(`works with number ${i}`));
  for (let i = 1; i <= 99; i++) testCases.addPiece(pathOf(i), 5, [passed('a')], []);
  for (let i = 1; i <= 9; i++)
    testCases.addPiece(
      pathOf(i),
      5,
      i % 2 === 0 ? long : many,
      long.map(({ name }) => name),
    );
  testCases.addFile('spec/a_spec.rb', 9999, many);
  await testCases.tell(new Api({ url: server.url, token: TOKEN, retries: 0, clientVersion: '1' }), node);
  expect(post.mock.calls.length).toBeGreaterThan(5);
  const kept = await Promise.all([file, 'spec/a_spec.rb'].map(path => server.store.cases.of(1, path, 1e9)));
  expect(kept.map(report => report?.kept.map(({ cases }) => cases.length))).toEqual([
    [...Array.from({ length: 9 }, (_, i) => (i % 2 === 0 ? 5000 : 31)), ...Array<number>(90).fill(1)],
    [5000],
  ]);
});

it('a node tells many cases of one name in an entry for each outcome', async () => {
  const server = await startServer();
  const testCases = new TestCases('go test');
  const name = 'TestTable'.padEnd(4000, 'x');
  testCases.addFile('calc', 60, [{ name, seconds: 50, outcomes: { passed: 20_000, skipped: 3 } }, passed('TestOther')]);
  await testCases.tell(new Api({ url: server.url, token: TOKEN, retries: 0, clientVersion: '1' }), node);
  const report = await server.store.cases.of(1, 'calc', 1e9);
  expect(report!.kept.map(({ cases }) => cases)).toEqual([
    [{ name, seconds: 50, outcomes: { passed: 20_000, skipped: 3 } }, passed('TestOther')],
  ]);
});

it('a node tells the cases of the first files that failed, beside those by which files are cut', async () => {
  const server = await startServer();
  const tell = async (add: (testCases: TestCases) => void) => {
    const testCases = new TestCases('rspec');
    add(testCases);
    await testCases.tell(new Api({ url: server.url, token: TOKEN, retries: 0, clientVersion: '1' }), node);
  };
  const failed = { name: 'fails', seconds: 0, outcomes: { failed: 1 } };
  await tell(testCases => testCases.addFile('0_spec.rb', 60, [passed('a'), passed('b')]));
  await tell(testCases => {
    testCases.addFile('long_spec.rb', 60, [passed('a'), failed]);
    for (let i = 0; i < 4; i++) testCases.addFile(`${i}_spec.rb`, 0.5, [failed]);
    testCases.addFile('passed_spec.rb', 0.5, [passed('a')]);
  });
  await tell(testCases => testCases.addFile('single_spec.rb', 60, [failed]));
  const kept = async (path: string) =>
    (await server.store.cases.of(1, path, 1e9))!.kept.map(report => [report.runner, report.cases.length]);
  expect(await kept('0_spec.rb')).toEqual([
    [null, 1],
    ['rspec', 2],
  ]);
  expect(await Promise.all(['long_spec.rb', 'single_spec.rb', '1_spec.rb', '2_spec.rb', '3_spec.rb', 'passed_spec.rb'].map(kept))).toEqual([
    [['rspec', 2]],
    [[null, 1]],
    [[null, 1]],
    [[null, 1]],
    [],
    [],
  ]);
});

it('a node without a server tells nothing, and does not try for long', async () => {
  const testCases = new TestCases('rspec');
  for (let i = 1; i <= 250; i++) testCases.addPiece(piecePath({ file, number: i, count: 250 }), 5, [passed('a')], []);
  const post = vi.spyOn(Api.prototype, 'post').mockRejectedValue(new Error('no answer'));
  onTestFinished(() => post.mockRestore());
  await testCases.tell(new Api({ url: 'http://127.0.0.1:1', token: TOKEN, retries: 0, clientVersion: '1' }), node);
  expect(post).toHaveBeenCalledTimes(1);
});
