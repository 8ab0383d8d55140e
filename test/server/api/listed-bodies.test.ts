import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/protocol/limits.js';
import { decodeBody, decodeListed, decodeRest } from '../../../src/server/api/json.js';
import { toSplit } from '../../../src/server/api/posts.js';
import type { RawParameters } from '../../../src/server/api/read/validation.js';
import { memoryBounds } from '../../../src/server/engine/memory-bounds.js';
import { restOfBody } from '../../../src/server/engine/suites/list-in-body.js';
import { Suite, suiteOf } from '../../../src/server/engine/suites/suite.js';
import { type CachedSuite, SuiteCache } from '../../../src/server/engine/suites/suite-cache.js';
import { ApiError } from '../../../src/server/http/api-error.js';

const seed = 20_260_124;
const PROJECT = 1;

const cachedSuite = (listed: readonly { path: string }[], text = JSON.stringify(listed)): CachedSuite => {
  const bytes = new Uint8Array(new SharedArrayBuffer(Buffer.byteLength(text)));
  bytes.set(Buffer.from(text));
  return {
    name: 'test_files',
    text: bytes,
    containers: text.length,
    columns: suiteOf(listed.map(({ path }) => path)).columns,
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
const CHARACTERS = '][",}{\\ :0\n\ufffd';
const inserted = fc.constantFrom(...CHARACTERS, '', 'null', '"test_files":[],', '"test_files":', '},"test_files":[{', '[]');
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

/** Returns the decoded request, with the paths of the list, or the errors. */
function outcome(decode: () => RawParameters, known: Suite | null = null): unknown {
  try {
    const { asked, suite } = toSplit(decode(), PROJECT, known);
    return { asked, paths: suite?.strings() };
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

describe('a body whose suite is cached', () => {
  it('is answered as one whose list is parsed, whatever its bytes are', () => {
    let known = 0;
    fc.assert(
      fc.property(body, fc.integer({ min: 40, max: 400 }), ({ listed, text }, size) => {
        const suites = new SuiteCache();
        suites.add(PROJECT, cachedSuite(listed));
        const bytes = new TextEncoder().encode(text);
        const found = suites.find(PROJECT, piecesOf(bytes, size), 'test_files');
        if (!found) return;
        const sent = decodeRest(found.rest, 'test_files', found.suite.containers);
        if (!sent) return;
        known += 1;
        expect(outcome(() => sent, new Suite(found.suite.columns))).toEqual(outcome(() => decodeBody(bytes)));
      }),
      { seed, numRuns: 1000 },
    );
    expect(known).toBeGreaterThan(150);
  });

  it('is decoded as if it were parsed as a whole', () => {
    let cut = 0;
    fc.assert(
      fc.property(body, ({ text }) => {
        const bytes = Buffer.from(text);
        const decoded = outcome(() => {
          const { sent, list } = decodeListed(bytes, 'test_files');
          if (list) cut += 1;
          return sent;
        });
        expect(decoded).toEqual(outcome(() => decodeBody(bytes)));
      }),
      { seed, numRuns: 500 },
    );
    expect(cut).toBeGreaterThan(50);
  });

  it('is found for its project and its parameter only', () => {
    const suites = new SuiteCache();
    const files = [{ path: 'a_spec.rb' }];
    suites.add(PROJECT, cachedSuite(files));
    const bytes = [new TextEncoder().encode(JSON.stringify({ test_files: files }))];
    expect(suites.find(PROJECT, bytes, 'test_files')).not.toBeNull();
    expect(suites.find(2, bytes, 'test_files')).toBeNull();
    expect(suites.find(PROJECT, bytes, 'paths')).toBeNull();
    expect(suites.find(PROJECT, [new TextEncoder().encode('{"test_files":[{"path":"a_spec.r"}]}')], 'test_files')).toBeNull();
    expect(suites.load).toMatchObject({ suites: 1, hits: 1 });
  });

  it('is decoded as a whole when it has too many objects together with its list', () => {
    const bodyOf = (more: object) => restOfBody([Buffer.from(JSON.stringify({ test_files: 0, ...more }))], 14, 15);
    const most = limits.jsonContainersPerBody;
    expect(decodeRest(bodyOf({}), 'test_files', most - 1)).toEqual({ test_files: expect.any(String) as unknown });
    expect(decodeRest(bodyOf({ a: [] }), 'test_files', most - 1)).toBeNull();
  });
});

describe('cached suites', () => {
  it('are kept once, however many nodes send them, and those that were sent last within their memory', () => {
    const suites = new SuiteCache();
    const bytes = Math.floor(memoryBounds.suites / 3);
    const listOf = (name: string) => ({ ...cachedSuite([{ path: name }], JSON.stringify([{ path: name }]).padEnd(bytes)), containers: 2 });
    const bodyOf = ({ text }: CachedSuite) => [Buffer.concat([Buffer.from('{"test_files":'), text, Buffer.from('}')])];
    const [a, b] = [listOf('aaa'), listOf('bbb')];
    for (const list of [a, b, listOf('aaa')]) suites.add(PROJECT, list);
    expect(suites.load.suites).toBe(2);
    expect(suites.find(PROJECT, bodyOf(a), 'test_files')).not.toBeNull();
    suites.add(PROJECT, listOf('ccc'));
    expect(suites.find(PROJECT, bodyOf(b), 'test_files')).toBeNull();
    expect(suites.find(PROJECT, bodyOf(a), 'test_files')).not.toBeNull();
    expect(suites.load.bytes).toBeLessThanOrEqual(memoryBounds.suites);
  });
});
