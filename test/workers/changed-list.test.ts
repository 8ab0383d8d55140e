import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBody } from '../../src/api/messages/decode.js';
import { toSplitMessage } from '../../src/api/messages/split.js';
import { areListed } from '../../src/api/messages/test-file.js';
import { ApiError } from '../../src/api-error.js';
import { listedPaths, pathsOf } from '../../src/engine/listed-paths.js';
import { limits } from '../../src/limits.js';
import { pathList } from '../../src/planning/paths/path-list.js';
import { changedList } from '../../src/workers/changed-list.js';
import type { KnownList } from '../../src/workers/known-lists.js';
import { cutPieces } from '../../src/workers/list-pieces.js';
import { decodeTask } from '../../src/workers/listed-body.js';

const seed = 20_260_131;

type Name = KnownList['name'];

/** Null: the text is no valid list. */
function parsed(name: Name, text: string): KnownList | null {
  let entries: unknown;
  try {
    entries = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(entries) || entries.length === 0 || !areListed[name](entries)) return null;
  const bytes = Buffer.from(text);
  const cuts = Uint32Array.from(cutPieces(bytes));
  return { name, text: bytes, cuts, containers: text.split(/[[{]/).length - 1, columns: pathList(pathsOf(entries)).columns, times: null };
}

/** Entries of some lists: paths with characters that have a meaning in JSON, further fields, and blanks. */
const path = fc.string({
  unit: fc.constantFrom('a', 'b', '/', ',', ']', '}', '[', '{', '"', '\\', 'ö', '🙂', '漢'),
  minLength: 3,
  maxLength: 8,
});
const entry = fc.oneof(
  { weight: 8, arbitrary: path.map(each => `{"path":${JSON.stringify(each)}}`) },
  path.map(each => ` {"more" : [1,{"a":[]}, "],["], "path":\n${JSON.stringify(each)} } `),
);
const plainEntry = path.map(each => JSON.stringify(each));

/** A list with many entries, so that some edits are a small part of it. */
const manyEntries = (one: fc.Arbitrary<string>) => fc.uniqueArray(one, { minLength: 70, maxLength: 90 });

/** Removes, replaces and adds entries, or puts any text anywhere. */
const entryEdit = (one: fc.Arbitrary<string>) =>
  fc.record({ at: fc.nat(), removed: fc.nat(2), added: fc.array(one, { maxLength: 2 }), isMove: fc.boolean() });
const textEdit = fc.record({
  at: fc.nat(),
  removed: fc.nat(12),
  added: fc.constantFrom(
    '',
    ',',
    '"',
    ']',
    '[',
    '{',
    '}',
    ' ',
    '\\',
    '],[',
    '","',
    '{"path":"a,b"},',
    'null',
    '{"path":"ab"},',
    '{"path":7},',
    'ö',
  ),
});

const edited = (one: fc.Arbitrary<string>) =>
  fc
    .record({ entries: manyEntries(one), edits: fc.array(entryEdit(one), { maxLength: 3 }), breaks: fc.array(textEdit, { maxLength: 1 }) })
    .map(({ entries, edits, breaks }) => {
      const before = `[${entries.join()}]`;
      const after = [...entries];
      for (const { at, removed, added, isMove } of edits) {
        const gone = after.splice(at % (after.length + 1), removed, ...added);
        if (isMove) after.splice((at >> 4) % (after.length + 1), 0, ...gone);
      }
      let text = `[${after.join()}]`;
      for (const { at, removed, added } of breaks) {
        const place = 1 + (at % (text.length - 1));
        text = `${text.slice(0, place)}${added}${text.slice(place + removed, -1)}]`;
      }
      // An edit may have cut a character in two.
      return { before, text: text.toWellFormed() };
    });

/** The content of a list, in text that is compared quickly. */
function contentOf({ name, text, cuts, times, columns }: KnownList): unknown {
  const { heads, ends, digest, numbers } = columns;
  return [name, Buffer.from(text).toString(), cuts.join(), times, Buffer.from(heads).toString(), ends.join(), digest, numbers.join()];
}

describe.each([
  { name: 'test_files' as const, one: entry },
  { name: 'paths' as const, one: plainEntry },
])('a changed list of $name', ({ name, one }) => {
  it('is what is parsed, or must be parsed', () => {
    let changed = 0;
    fc.assert(
      fc.property(edited(one), ({ before, text }) => {
        const list = changedList(parsed(name, before)!, Buffer.from(text));
        if (!list) return;
        changed += 1;
        const expected = parsed(name, text);
        expect(expected).not.toBeNull();
        expect(contentOf(list)).toEqual(contentOf(expected!));
        expect(list.columns.hasCases || !expected!.columns.hasCases).toBe(true);
        expect(list.containers).toBeGreaterThanOrEqual(expected!.containers);
      }),
      { seed, numRuns: 300 },
    );
    expect(changed).toBeGreaterThan(80);
  });
});

/** What a request is answered with: its message with the digest of its list, or its errors. */
function outcome(decode: () => Readonly<Record<string, unknown>>): unknown {
  try {
    const { test_files, ...message } = toSplitMessage(decode());
    return { message, digest: test_files && listedPaths(test_files).columns.digest };
  } catch (error) {
    if (error instanceof ApiError) return { status: error.status, errors: error.errors };
    throw error;
  }
}

describe('a body with a changed list', () => {
  it('is decoded as if it were parsed as a whole', () => {
    const fields = { commit_hash: 'abc', branch: 'main', node_total: 2, node_index: 0, ci_build_id: '1', cache_read_attempt: false };
    const start = JSON.stringify({ more: 'x'.repeat(limits.pooledBodyBytes), ...fields }).slice(0, -1);
    const outcomes = { decoded: 0, refused: 0 };
    fc.assert(
      fc.property(edited(entry), fc.constantFrom('', ',"node_index":7', ',"a":[{}]'), ({ before, text }, more) => {
        const body = Buffer.from(`${start},"test_files":${text}${more}}`);
        const base = parsed('test_files', before)!;
        const expected = outcome(() => decodeBody(body));
        expect(outcome(() => decodeTask({ kind: 'post', job: 'prepareSplit', body: [body], project: 1, base }).sent)).toEqual(expected);
        outcomes[(expected as { status?: number }).status === undefined ? 'decoded' : 'refused'] += 1;
      }),
      { seed, numRuns: 300 },
    );
    expect(Math.min(outcomes.decoded, outcomes.refused)).toBeGreaterThan(50);
  });
});

const filesOf = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `spec/area/file_${10_000 + from + i}_spec.rb`);
const nestedFiles = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `packages/${10_000 + from + i}/${'source/'.repeat(10)}index.test.ts`);
const listOf = (paths: readonly string[]) => JSON.stringify(paths.map(each => ({ path: each })));
const changed = (before: readonly string[], after: readonly string[]) =>
  changedList(parsed('test_files', listOf(before))!, Buffer.from(listOf(after)));

describe('a changed list', () => {
  it.each([
    ['files that were added in one place', filesOf(0, 2000), [...filesOf(0, 1000), ...filesOf(5000, 5100), ...filesOf(1000, 2000)]],
    ['files that were removed in one place', filesOf(0, 2000), [...filesOf(0, 1000), ...filesOf(1100, 2000)]],
    ['files that were added at the end', filesOf(0, 2000), filesOf(0, 2100)],
    ['files that were removed at the end', filesOf(0, 2100), filesOf(0, 2000)],
    ['another first and last file', filesOf(0, 2000), ['spec/aaa', ...filesOf(1, 1999), 'spec/zzz']],
    ['files in another order', filesOf(0, 2000), [...filesOf(0, 500), ...filesOf(510, 2000), ...filesOf(500, 510)]],
    [
      'files in directories of the same content',
      nestedFiles(0, 2000),
      [...nestedFiles(0, 500), ...nestedFiles(510, 2000), ...nestedFiles(3000, 3010)],
    ],
    ['the same files', filesOf(0, 2000), filesOf(0, 2000)],
  ])('is not parsed as a whole with %s', (_, before, after) => {
    expect(contentOf(changed(before, after)!)).toEqual(contentOf(parsed('test_files', listOf(after))!));
  });

  it.each([
    ['other files', filesOf(0, 2000), filesOf(5000, 7000)],
    ['many changes', filesOf(0, 2000), filesOf(0, 2000).map((each, i) => (i % 10 === 0 ? `${each}_2` : each))],
    ['the files in the reverse order', filesOf(0, 2000), filesOf(0, 2000).reverse()],
    ['a path that was listed twice', [...filesOf(0, 2000), ...filesOf(0, 1)], filesOf(0, 2000)],
  ])('is parsed as a whole with %s', (_, before, after) => {
    expect(changed(before, after)).toBeNull();
  });

  it('is found or not in a short time, whatever is searched for', () => {
    const path = (file: number) => `b${'a'.repeat(3000)}${file}`;
    const before = Array.from({ length: 500 }, (_, file) => path(file));
    const after = before.map((_, file) => `${'a'.repeat(3000)}${file}`);
    const began = performance.now();
    expect(changed(before, after)).toBeNull();
    expect(performance.now() - began).toBeLessThan(2000);
  });

  it('is found or not in a short time, however long the entries are that are compared', () => {
    const paths = Array.from({ length: 1100 }, (_, file) => `"p${10_000 + file}"`);
    const [window, almost] = [2 ** 22, `${' '.repeat(55)}"needle",`];
    // The piece that is searched for in this window is blanks and a path. The window has as many, and then that path again and again.
    const before = paths.with(1023, `${' '.repeat(window / 2)}"needle"`).join();
    const after = `"zzz",${' '.repeat(window / 2)}${almost.repeat(window / 150)}${' '.repeat(2 * window)}${paths.slice(1).join()}`;
    const base = parsed('paths', `[${before}]`)!;
    const began = performance.now();
    expect(changedList(base, Buffer.from(`[${after}]`))).toBeNull();
    expect(performance.now() - began).toBeLessThan(500);
  });

  it('may have more new files than a call may have arguments', () => {
    const more = Array.from({ length: 150_000 }, (_, i) => `"${(50_000 + i).toString(36)}"`);
    const long = `"first",${' '.repeat(18_000_000)}"second"`;
    const base = parsed('paths', `[${long},"third"]`)!;
    const list = changedList(base, Buffer.from(`[${long},${more.join()},"third"]`))!;
    expect(list.columns.ends.length).toBe(150_003);
  });

  it('keeps the numbers of the store', () => {
    const base = parsed('test_files', listOf(filesOf(0, 2000)))!;
    base.columns.numbers.forEach((_, file, numbers) => void (numbers[file] = file + 1));
    const list = changedList(base, Buffer.from(listOf(['spec/aaa', ...filesOf(1, 2000)])))!;
    expect([...list.columns.numbers]).toEqual([0, ...Array.from({ length: 1999 }, (_, i) => i + 2), 0]);
  });
});
