import { describe, expect, it } from 'vitest';
import { segment, toSegments } from '../../src/bytes.js';

describe('segments', () => {
  it.each([
    ['ASCII', ['a', '', 'bcd', '{"e":1}']],
    ['several bytes a character', ['ä', '', '漢字', '🙂x', 'y']],
    ['no pieces', []],
  ])('return the pieces of %s', (_, texts) => {
    const segments = toSegments(texts);
    expect(texts.map((_text, i) => segment(segments, i).toString())).toEqual(texts);
    expect(segments.bytes.length).toBe(Buffer.byteLength(texts.join('')));
  });
});
