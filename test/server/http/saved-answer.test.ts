import { describe, expect, it, vi } from 'vitest';
import { refusals } from '../../../src/server/engine/refusal.js';
import { connectTo, postRequest } from './raw-connection.js';

const SOON = { timeout: 10_000, interval: 1 };
const REQUEST = postRequest('/', 'a-token', '{}');

/** A server whose answers wait for `save` or `fail`, and what the handler was told of them. */
async function opened() {
  const ended: boolean[] = [];
  let [save, fail, calls] = [() => {}, (_: Error) => {}, 0];
  const saved = new Promise<void>((resolve, reject) => ([save, fail] = [resolve, reject]));
  saved.catch(() => {});
  const { connection } = await connectTo(() => {
    calls += 1;
    return { status: 200, body: '"saved"', saved, onEnd: wasSent => ended.push(wasSent) };
  }, REQUEST);
  await vi.waitFor(() => expect(calls).toBe(1), SOON);
  return { connection, ended, save, fail };
}

describe('an answer about what is still written to the disk', () => {
  it('is sent when it is on disk', async () => {
    const { connection, ended, save } = await opened();
    let isAnswered = false;
    const reply = connection.reply().finally(() => (isAnswered = true));
    // Meanwhile another request arrives and is handled.
    await opened();
    expect([isAnswered, ended]).toEqual([false, []]);
    save();
    expect(await reply).toMatchObject({ status: 200, text: '"saved"' });
    expect(ended).toEqual([true]);
  });

  it('is replaced by the error when it could not be written', async () => {
    const { connection, ended, fail } = await opened();
    fail(refusals.storeFailed(new Error('ENOSPC')));
    expect(await connection.reply()).toMatchObject({ status: 503 });
    // What it tells is void: a batch may have gone to another node meanwhile.
    expect(ended).toEqual([]);
  });

  it('is given up when its client leaves', async () => {
    const { connection, ended, save } = await opened();
    connection.leave();
    await vi.waitFor(() => expect(ended).toEqual([false]), SOON);
    save();
    await new Promise(resolve => setImmediate(resolve));
    expect(ended).toEqual([false]);
  });
});
