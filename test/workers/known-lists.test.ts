import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBody } from '../../src/api/messages/decode.js';
import { toSplitMessage } from '../../src/api/messages/split.js';
import { ApiError } from '../../src/api-error.js';
import { listedPaths } from '../../src/engine/listed-paths.js';
import { limits } from '../../src/limits.js';
import { memoryBounds } from '../../src/memory-bounds.js';
import { PathList, pathList } from '../../src/planning/paths/path-list.js';
import { type KnownList, KnownLists } from '../../src/workers/known-lists.js';
import { decodeTask, withList } from '../../src/workers/listed-body.js';

const seed = 20_260_124;
const PROJECT = 1;

const knownList = (listed: readonly { path: string }[], text = JSON.stringify(listed)): KnownList => {
  const bytes = new Uint8Array(new SharedArrayBuffer(Buffer.byteLength(text)));
  bytes.set(Buffer.from(text));
  return {
    name: 'test_files',
    text: bytes,
    containers: text.length,
    columns: pathList(listed.map(({ path }) => path)).columns,
  };
};

const path = fc.string({ unit: fc.constantFrom('a', '/', '"', '\\', ']', '}', '{', ',', 'ö', '漢'), minLength: 3, maxLength: 6 });
const listed = fc.array(fc.record({ path }), { minLength: 1, maxLength: 5 });
const fields = fc.record(
  {
    commit_hash: fc.constant('abc'),
    branch: fc.oneof(fc.constant('main'), path),
    node_total: fc.constantFrom<unknown>(2, '3', 0),
    node_index: fc.constantFrom(0, 7),
    ci_build_id: fc.constantFrom<unknown>('1', 17, 2 ** 60),
    cache_read_attempt: fc.constantFrom<unknown>(false, 'true'),
    commit_authors: fc.constant([{ commits: 1, author: 'a ]' }]),
  },
  { requiredKeys: ['commit_hash', 'branch', 'node_total', 'node_index', 'ci_build_id'] },
);

/** Text that an edit puts anywhere, to break the JSON or to move the list. */
const inserted = fc.constantFrom(
  ...[
    '',
    ']',
    '[',
    '"',
    ',',
    '}',
    '{',
    '\\',
    ' ',
    ':',
    '0',
    '\n',
    '\ufffd',
    'null',
    '"test_files":[],',
    '"test_files":',
    '},"test_files":[{',
    '[]',
  ],
);
const edit = fc.record({ at: fc.nat(), removed: fc.nat(3), inserted });

/** A body with its list at the front, in the middle or at the end, and with edits. */
const body = fc
  .record({
    listed,
    before: fields,
    after: fc.option(fields),
    blanks: fc.constantFrom('', ' ', '\n '),
    edits: fc.array(edit, { maxLength: 2 }),
  })
  .map(({ listed, before, after, blanks, edits }) => {
    const rest = (sent: object) => JSON.stringify(sent).slice(1, -1);
    const parts = [rest(before), `"test_files"${blanks}:${blanks}${JSON.stringify(listed)}`, ...(after ? [rest(after)] : [])];
    let text = `{${parts.join(`,${blanks}`)}}`;
    for (const { at, removed, inserted } of edits) {
      const place = at % (text.length + 1);
      text = text.slice(0, place) + inserted + text.slice(place + removed);
    }
    return { listed, text };
  });

/** What a request is answered with: its message, with the paths of its list, or its errors. */
function outcome(decode: () => Readonly<Record<string, unknown>>): unknown {
  try {
    const { test_files, ...message } = toSplitMessage(decode());
    return { message, paths: test_files && listedPaths(test_files).strings() };
  } catch (error) {
    if (error instanceof ApiError) return { status: error.status, errors: error.errors };
    throw error;
  }
}

/** A body in pieces as from a socket. */
function piecesOf(text: Uint8Array, size: number): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let from = 0; from < text.length || from === 0; from += size) pieces.push(text.slice(from, from + size));
  return pieces;
}

describe('a body whose list is known', () => {
  it('is answered as one whose list is parsed, whatever its bytes are', () => {
    let known = 0;
    fc.assert(
      fc.property(body, fc.integer({ min: 40, max: 400 }), ({ listed, text }, size) => {
        const lists = new KnownLists();
        lists.add(PROJECT, knownList(listed));
        const bytes = new TextEncoder().encode(text);
        const found = lists.find(PROJECT, piecesOf(bytes, size), 'test_files');
        if (!found) return;
        known += 1;
        const warm = outcome(() => withList(found.sent, 'test_files', new PathList(found.list.columns)));
        expect(warm).toEqual(outcome(() => decodeBody(bytes)));
      }),
      { seed, numRuns: 3000 },
    );
    expect(known).toBeGreaterThan(500);
  });

  it('is decoded by a worker thread as if it were parsed as a whole', () => {
    let cut = 0;
    fc.assert(
      fc.property(body, ({ text }) => {
        const bytes = new TextEncoder().encode(text.padEnd(limits.pooledBodyBytes));
        const taskOutcome = outcome(() => {
          const { sent, listToKnow } = decodeTask({ kind: 'post', job: 'prepareSplit', body: [bytes], project: PROJECT });
          if (Array.isArray(sent.test_files) && sent.test_files.every(file => typeof file?.path === 'string')) {
            listedPaths(sent.test_files);
            if (listToKnow()) cut += 1;
          }
          return sent;
        });
        expect(taskOutcome).toEqual(outcome(() => decodeBody(bytes)));
      }),
      { seed, numRuns: 500 },
    );
    expect(cut).toBeGreaterThan(50);
  });

  it('is found for its project and its parameter only', () => {
    const lists = new KnownLists();
    const files = [{ path: 'a_spec.rb' }];
    lists.add(PROJECT, knownList(files));
    const bytes = [new TextEncoder().encode(JSON.stringify({ test_files: files }))];
    expect(lists.find(PROJECT, bytes, 'test_files')).not.toBeNull();
    expect(lists.find(2, bytes, 'test_files')).toBeNull();
    expect(lists.find(PROJECT, bytes, 'paths')).toBeNull();
    expect(lists.find(PROJECT, [new TextEncoder().encode('{"test_files":[{"path":"a_spec.r"}]}')], 'test_files')).toBeNull();
    expect(lists.load).toMatchObject({ lists: 1, hits: 1 });
  });

  it('is parsed when its other parameters are large, or have too many objects together with its list', () => {
    const lists = new KnownLists();
    const files = [{ path: 'a_spec.rb' }];
    lists.add(PROJECT, { ...knownList(files), containers: limits.jsonContainersPerBody });
    const bodyOf = (more: object) => [new TextEncoder().encode(JSON.stringify({ test_files: files, ...more }))];
    expect(lists.find(PROJECT, bodyOf({ branch: 'b'.repeat(limits.pooledBodyBytes) }), 'test_files')).toBeNull();
    const large = knownList(files, JSON.stringify(files).padEnd(limits.countedBodyBytes));
    const known = new KnownLists();
    known.add(PROJECT, { ...large, containers: limits.jsonContainersPerBody - 1 });
    const text = (more: string) => [new TextEncoder().encode(`{"test_files":${Buffer.from(large.text).toString()}${more}}`)];
    expect(known.find(PROJECT, text(''), 'test_files')).not.toBeNull();
    expect(known.find(PROJECT, text(',"a":[[]]'), 'test_files')).toBeNull();
  });
});

describe('known lists', () => {
  it('are kept once, however many nodes send them, and those that were sent last within their memory', () => {
    const lists = new KnownLists();
    const bytes = Math.floor(memoryBounds.knownLists / 3);
    const listOf = (name: string) => ({ ...knownList([{ path: name }], JSON.stringify([{ path: name }]).padEnd(bytes)), containers: 2 });
    const bodyOf = ({ text }: KnownList) => [Buffer.concat([Buffer.from('{"test_files":'), text, Buffer.from('}')])];
    const [a, b] = [listOf('aaa'), listOf('bbb')];
    for (const list of [a, b, listOf('aaa')]) lists.add(PROJECT, list);
    expect(lists.load.lists).toBe(2);
    expect(lists.find(PROJECT, bodyOf(a), 'test_files')).not.toBeNull();
    lists.add(PROJECT, listOf('ccc'));
    expect(lists.find(PROJECT, bodyOf(b), 'test_files')).toBeNull();
    expect(lists.find(PROJECT, bodyOf(a), 'test_files')).not.toBeNull();
    expect(lists.load.bytes).toBeLessThanOrEqual(memoryBounds.knownLists);
  });
});
