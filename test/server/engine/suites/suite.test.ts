import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestOfList } from '../../../../src/protocol/list-digest.js';
import { suiteOf } from '../../../../src/server/engine/suites/suite.js';

const seed = 20_260_122;

/** Paths with characters that JSON escapes, that UTF-8 encodes in several bytes, and halves of surrogate pairs. */
const path = fc.oneof(
  fc.string({
    unit: fc.constantFrom('a', 'b', '/', '\\', '"', '\n', '\0', ',', 'ö', '漢', '🙂', '\ud800', '\uffff', '[', '1', ']'),
    maxLength: 12,
  }),
  fc.string({ unit: 'binary' }),
);
const paths = fc.array(path, { maxLength: 30 });

describe('a list of paths', () => {
  it('has each path once, sorted by UTF-16 code units, the JSON of each file up to its time, and the digest of the list', () => {
    fc.assert(
      fc.property(paths, listed => {
        const list = suiteOf(listed);
        const { heads, ends, digest } = list.columns;
        const distinct = [...new Set(listed)].sort();
        expect(list.strings()).toEqual(distinct);
        expect(digest).toBe(digestOfList(listed));
        const texts = distinct.map(each => `,{"path":${JSON.stringify(each)},"time_execution":`);
        expect(Buffer.from(heads).toString()).toBe(texts.join(''));
        let end = 0;
        expect([...ends]).toEqual(texts.map(text => (end += Buffer.byteLength(text))));
      }),
      { seed, numRuns: 300 },
    );
  });

  it('finds the paths that begin with a text', () => {
    fc.assert(
      fc.property(paths, fc.string({ unit: fc.constantFrom('a', 'b', '/', 'ö'), maxLength: 3 }), (listed, text) => {
        const list = suiteOf(listed);
        const [from, to] = list.beginningWith(text);
        expect(list.strings().slice(from, to)).toEqual(list.strings().filter(each => each.startsWith(text)));
      }),
      { seed, numRuns: 100 },
    );
  });

  it('tells whether it has test cases of files', () => {
    const lists = [['a.rb'], ['a.rb', 'a.rb[1:2]'], ['a.py::b'], []];
    expect(lists.map(listed => suiteOf(listed).hasCases)).toEqual([false, true, true, false]);
  });
});
