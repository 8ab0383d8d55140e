import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Identity } from '../../../src/node/ci/identity.js';
import { type Api, RequestRejected, ServerUnreachable } from '../../../src/node/client/api.js';
import { QueueClient } from '../../../src/node/client/queue-client.js';

const IDENTITY: Identity = { commit_hash: 'c1', branch: 'main', node_total: 2, node_index: 0, build_id: '7' } as Identity;
const FILES = ['a.js', 'b.js', 'c.js'];
const TOLD = {} as ConstructorParameters<typeof QueueClient>[3];

/** A client, whose pulls get these answers in turn, and its requests. An answer that is an error is thrown. */
function clientOf(pulled: readonly (object | Error)[], heartbeat: () => void = () => {}) {
  const sent: { path: string; message: any }[] = [];
  const answers = pulled[Symbol.iterator]();
  const api = {
    options: {},
    async post(path: string, message: any) {
      sent.push({ path, message });
      if (path === '/v2/queues/heartbeat') return heartbeat();
      const { value } = answers.next();
      if (value instanceof Error) throw value;
      return { node_uuid: message.node_uuid, batch_index: message.batch_index, times: (value as any).paths.map(() => null), ...value };
    },
  };
  return { client: new QueueClient(api as unknown as Api, IDENTITY, FILES, TOLD), sent };
}

const batch = (id: number, ...paths: string[]) => ({ paths, batch_id: id });
const END = { paths: [], batch_id: null };
const NONE = { recorded: [], failed: [] };
const events = () => ({ standBy: vi.fn(async () => true), leftOut: vi.fn(), passedAgain: vi.fn(), recorded: vi.fn() });
const heartbeatsIn = (sent: readonly { path: string }[]) => sent.filter(({ path }) => path === '/v2/queues/heartbeat').length;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

it('sends a heartbeat every 15 seconds while a batch runs, and none before, between pulls or after the end', async () => {
  const { client, sent } = clientOf([batch(0, 'a.js'), batch(1, 'b.js'), END]);
  await vi.advanceTimersByTimeAsync(60_000);
  const first = (await client.firstBatch(events()))!;
  await vi.advanceTimersByTimeAsync(14_000);
  const second = (await client.nextBatch(first, NONE, events()))!;
  await vi.advanceTimersByTimeAsync(14_000);
  expect(heartbeatsIn(sent)).toBe(0);
  await vi.advanceTimersByTimeAsync(31_000);
  expect(heartbeatsIn(sent)).toBe(3);
  const { node_uuid } = sent[0]!.message;
  expect(sent.at(-1)).toEqual({
    path: '/v2/queues/heartbeat',
    message: { commit_hash: 'c1', branch: 'main', node_total: 2, node_index: 0, test_queue_id: '7', node_uuid },
  });
  expect(await client.nextBatch(second, NONE, events())).toBeNull();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(heartbeatsIn(sent)).toBe(3);
});

it.each([
  ['goes on when a heartbeat gets no answer', new ServerUnreachable('away'), 4],
  ['sends no more when the server refuses one', new RequestRejected('unknown', 422), 1],
])('%s', async (_, error, expected) => {
  const { client, sent } = clientOf([batch(0, 'a.js')], () => {
    throw error;
  });
  await client.firstBatch(events());
  await vi.advanceTimersByTimeAsync(60_000);
  expect(heartbeatsIn(sent)).toBe(expected);
});

it('tells the times of its last batch, and what the server recorded meanwhile', async () => {
  const { client, sent } = clientOf([batch(0, 'a.js', 'b.js', 'c.js'), { ...END, is_recorded: true }]);
  const first = (await client.firstBatch(events()))!;
  const told = events();
  const recorded = [
    { path: 'c.js', time_execution: 0, ran: true as const },
    { path: 'a.js', time_execution: 2.5 },
  ];
  await client.nextBatch(first, { recorded, failed: ['b.js'] }, told);
  expect(sent.at(-1)!.message).toMatchObject({ batch_id: 0, failed_paths: ['b.js'], times: [2.5, 0, null], sends_heartbeats: true });
  expect(told.recorded).toHaveBeenCalledWith(first);
  expect(told.standBy).not.toHaveBeenCalled();
});

const WAIT = { ...END, pull_again_in: 0 };
it.each<[situation: string, answers: (object | Error)[], paths: string[] | undefined]>([
  ['until it gets files of a node that died', [WAIT, WAIT, batch(3, 'b.js')], ['b.js']],
  ['until no other node is at work', [WAIT, END], undefined],
  ['until the server is away', [WAIT, new ServerUnreachable('away')], undefined],
])('waits when the server says so, %s', async (_, answers, paths) => {
  const { client, sent } = clientOf([batch(0, 'a.js'), ...answers]);
  const first = (await client.firstBatch(events()))!;
  const told = events();
  const next = await client.nextBatch(first, NONE, told);
  expect(next?.files.map(({ path }) => path)).toEqual(paths);
  expect(told.standBy).toHaveBeenCalledOnce();
  // A batch is reported once.
  expect(sent.filter(({ message }) => message.batch_id === 0)).toHaveLength(1);
  expect(new Set(sent.map(({ message }) => message.batch_index)).size).toBe(sent.length);
});

it('waits also when nothing is left as it comes', async () => {
  const { client } = clientOf([WAIT, batch(3, 'b.js')]);
  const told = events();
  expect((await client.firstBatch(told))?.files.map(({ path }) => path)).toEqual(['b.js']);
  expect(told.standBy).toHaveBeenCalledOnce();
});

it('tells which files the queue leaves out, if it has others or not', async () => {
  const proved = { test_files: 2, ci_runs: [{ ci_run_id: 'x', ci_run: '7' }] };
  for (const first of [
    { ...batch(0, 'a.js'), proved },
    { ...END, proved },
  ]) {
    const { client } = clientOf([first]);
    const told = events();
    await client.firstBatch(told);
    expect(told.leftOut.mock.calls).toEqual([[proved]]);
  }
});

it('does not wait if its times cannot be recorded', async () => {
  const { client, sent } = clientOf([batch(0, 'a.js'), WAIT]);
  const first = (await client.firstBatch(events()))!;
  expect(await client.nextBatch(first, NONE, { ...events(), standBy: async () => false })).toBeNull();
  expect(sent).toHaveLength(2);
});
