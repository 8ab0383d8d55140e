import { describe, expect, it } from 'vitest';
import { jsonDocuments, jsonValues } from '../../../src/node/reports/json.js';

async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size);
}

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const value of values) list.push(value);
  return list;
}

describe('values of a document', () => {
  const text = JSON.stringify({ before: [{ a: 1 }], tests: { 'ä "b"\u2028.py': 1.5e-3, c: null }, after: 'x' }, null, 2);

  it.each([1, 2, 7, 10_000])('are the selected ones, in pieces of %i bytes', async size => {
    expect(await all(jsonValues(pieces(text, size), ['$.tests.*']))).toEqual([
      { value: 0.0015, at: ['tests', 'ä "b"\u2028.py'] },
      { value: null, at: ['tests', 'c'] },
    ]);
  });

  it.each([
    ['{\n"a": 1,\n"b": nul }', 'line 3: unexpected " "'],
    ['{\n"a": 1,\n"b" 2\n}', 'line 3: unexpected NUMBER (2)'],
    ['{\n"a": 1,\n', 'line 3: unexpected end of file'],
    ['', 'line 1: unexpected end of file'],
    ['{"a": NaN}', 'line 1: unexpected "N"'],
  ])('of %j are refused with the line', async (wrong, message) => {
    for (const size of [3, 10_000]) await expect(all(jsonValues(pieces(wrong, size), ['$.*']))).rejects.toThrow(message);
  });
});

describe('a text that is not UTF-8', () => {
  it('is refused', async () => {
    const bytes = Buffer.concat([Buffer.from('{\n"'), Buffer.from([0xe4]), Buffer.from('.py": 1}')]);
    const latin1 = (async function* () {
      yield bytes;
    })();
    await expect(all(jsonValues(latin1, ['$.*']))).rejects.toThrow('line 1, or a line soon after it, is not UTF-8');
  });
});

describe('consecutive documents', () => {
  it.each([1, 10_000])('are read on one line or several, in pieces of %i bytes', async size => {
    const text = `{"a":[1,2]}\n{"b":"\u2028"}\r\n\n${JSON.stringify({ c: { d: [] } }, null, 2)}`;
    expect(await all(jsonDocuments(pieces(text, size)))).toEqual([{ a: [1, 2] }, { b: '\u2028' }, { c: { d: [] } }]);
  });
});
