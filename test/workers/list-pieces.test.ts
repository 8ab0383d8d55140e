import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutPieces, piecesOf } from '../../src/workers/list-pieces.js';

const seed = 20_260_202;

const plain = fc.string({ unit: fc.constantFrom('a', '/', ',', ']', '}', '[', '{'), maxLength: 6 });
const odd = fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', 'ö', '🙂'), maxLength: 6 });

interface Entry {
  path: string;
  text: string;
}

/** Entries of each list: as nearly all clients write them, and others. */
const lists = {
  test_files: {
    around: '{"path":""},'.length,
    usual: plain.map((path): Entry => ({ path, text: JSON.stringify({ path }) })),
    other: fc.oneof(
      odd.map((path): Entry => ({ path, text: JSON.stringify({ path }) })),
      plain.map((path): Entry => ({ path, text: `{"path":"replaced","path":${JSON.stringify(path)}}` })),
      plain.map((path): Entry => ({ path, text: `{"x":[{}],"p\\u0061th" :${JSON.stringify(path)}}` })),
    ),
  },
  paths: {
    around: '"",'.length,
    usual: plain.map((path): Entry => ({ path, text: JSON.stringify(path) })),
    other: fc.oneof(
      odd.map((path): Entry => ({ path, text: ` ${JSON.stringify(path)}` })),
      plain.map((path): Entry => ({ path: `a${path}`, text: `"\\u0061${path}"` })),
    ),
  },
};

describe.each(['test_files', 'paths'] as const)('the pieces of a list of %s', name => {
  it('are found by the lengths of its paths where these tell them, else by its text', () => {
    const { around, usual, other } = lists[name];
    const entry = fc.oneof({ weight: 20, arbitrary: usual }, other);
    let told = 0;
    fc.assert(
      fc.property(fc.array(entry, { minLength: 1, maxLength: 8 }), entries => {
        const list = Buffer.from(`[${entries.map(({ text }) => text).join()}]`);
        const paths = entries.map(({ path }) => path);
        expect(JSON.parse(list.toString()).map((each: any) => each.path ?? each)).toEqual(paths);
        if (list.length === 1 + paths.reduce((sum, { length }) => sum + length + around, 0)) told += 1;
        expect(piecesOf(list, name, paths)).toEqual(cutPieces(list));
      }),
      { seed, numRuns: 500 },
    );
    expect(told).toBeGreaterThan(100);
    expect(told).toBeLessThan(490);
  });
});
