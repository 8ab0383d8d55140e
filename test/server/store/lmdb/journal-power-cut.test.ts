import { fstatSync, statSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BLOCK_BYTES } from '../../../../src/server/store/lmdb/codecs/journal-record.js';
import type { WriteBytes } from '../../../../src/server/store/lmdb/writes/journal-files.js';
import { temporaryFolder } from '../../../harness/temporary-folder.js';
import { openJournal, pathsOf, readPayloads, writeFiles } from './journal-folder.js';

it('a journal after a power cut has what was acknowledged, and at most the record that was being written', async () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.array(fc.nat(9000), { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.constant('checkpoint' as const) },
  );
  const steps = fc.array(step, { minLength: 1, maxLength: 14 });
  await fc.assert(fc.asyncProperty(steps, fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), survivesPowerCut), { numRuns: 40 });
});

type Step = number[] | 'checkpoint';

interface Logged {
  file: number;
  at: number;
  bytes: Buffer;
  /** When the write began: the payloads that were acknowledged, and the last number that was released. */
  acknowledged: string[];
  released: number;
}

/** Cuts the power at some write, of which a part in the middle is on disk, starts again, appends, and reads. */
async function survivesPowerCut(steps: readonly Step[], cut: number, part: number): Promise<void> {
  const { log, appended } = await play(steps);
  if (log.length === 0) return;
  const torn = cut % log.length;
  const folder = temporaryFolder();
  const { file, at, acknowledged, released, bytes } = log[torn]!;
  // Blocks reach the disk in any order, and the last of them may be torn.
  const kept = Math.floor(bytes.length * part);
  const skipped = cut % 3 === 0 ? BLOCK_BYTES : 0;
  const size = Math.max(...log.map(write => write.at + write.bytes.length));
  const images = [Buffer.alloc(size), Buffer.alloc(size)] as const;
  for (const write of log.slice(0, torn)) images[write.file]!.set(write.bytes, write.at);
  if (kept > skipped) images[file]!.set(bytes.subarray(skipped, kept), at + skipped);
  writeFiles(folder, images[0].subarray(BLOCK_BYTES), images[1].subarray(BLOCK_BYTES));

  const found = wordsIn(folder, released);
  const from = appended.indexOf(found[0] ?? '');
  expect(found).toEqual(found.length === 0 ? [] : appended.slice(from, from + found.length));
  expect(found.slice(0, acknowledged.length)).toEqual(acknowledged);
  const files = openJournal(folder, released);
  await files.append(Buffer.from('new'));
  files.close();
  expect(wordsIn(folder, released)).toEqual([...found, 'new']);
}

/** Plays steps on files whose writes are logged. Payloads are distinct words. */
async function play(steps: readonly Step[]): Promise<{ log: Logged[]; appended: string[] }> {
  const folder = temporaryFolder();
  const log: Logged[] = [];
  const appended: string[] = [];
  let acknowledged: { number: number; payload: string }[] = [];
  let released = 0;
  let last = 0;
  const write: WriteBytes = async (descriptor, bytes, from, length, at) => {
    // Where the file only grows.
    if (bytes.every(byte => byte === 0)) return { bytesWritten: length };
    const { ino } = fstatSync(descriptor);
    const file = pathsOf(folder).findIndex(path => statSync(path).ino === ino);
    const payloads = acknowledged.filter(({ number }) => number > released).map(({ payload }) => payload);
    log.push({ file, at, bytes: Buffer.from(bytes.subarray(from, from + length)), acknowledged: payloads, released });
    return { bytesWritten: length };
  };
  const files = openJournal(folder, 0, write);
  for (const step of steps) {
    if (step === 'checkpoint') {
      files.alternate();
      files.release(last);
      released = last;
      acknowledged = [];
      continue;
    }
    const payloads = step.map((size, i) => `${appended.length + i}:${'p'.repeat(size)}`);
    appended.push(...payloads);
    const numbers = await Promise.all(payloads.map(payload => files.append(Buffer.from(payload))));
    acknowledged.push(...numbers.map((number, i) => ({ number, payload: payloads[i]! })));
    last = numbers.at(-1)!;
  }
  return { log, appended };
}

const wordsIn = (folder: string, released: number) => readPayloads(folder, released).flatMap(line => line.replace(/^\d+: /, '').split(' '));
