import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { encodeHead } from '../../../../src/server/store/lmdb/codecs/journal-record.js';
import { JOURNAL_FILES, JournalFiles, readJournal, type WriteBytes } from '../../../../src/server/store/lmdb/writes/journal-files.js';

export const JOURNAL = 77;
export const pathsOf = (folder: string) => JOURNAL_FILES.map(name => join(folder, name));

/** Opens the files of a folder as a server does that starts after records up to `released` were checkpointed. */
export function openJournal(folder: string, released = 0, write?: WriteBytes): JournalFiles {
  const files = new JournalFiles(folder, { end: () => {} }, write);
  const records = readJournal(folder, JOURNAL, () => released);
  files.open(JOURNAL, records.at(-1)?.number ?? released, records);
  onTestFinished(() => files.close());
  return files;
}

/** The payloads of all records that are needed, as text. */
export const readPayloads = (folder: string, released = 0) =>
  readJournal(folder, JOURNAL, () => released).map(({ number, payloads }) => `${number}: ${payloads.map(String).join(' ')}`);

/** A file of the journal with this content behind its head. */
export const withHead = (content: Buffer) => Buffer.concat([encodeHead(JOURNAL), content]);

/** Writes both files, with this content behind their heads. */
export function writeFiles(folder: string, ...contents: readonly [Buffer, Buffer]): void {
  for (const [i, path] of pathsOf(folder).entries()) writeFileSync(path, withHead(contents[i]!));
}
