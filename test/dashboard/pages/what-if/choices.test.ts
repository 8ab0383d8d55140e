import { describe, expect, it } from 'vitest';
import { choicesOf, whatIfPath, withCut } from '../../../../src/dashboard/pages/what-if/choices.js';

const of = (query: string) => choicesOf(new URLSearchParams(query));

describe('what is played again', () => {
  it('is in the address', () => {
    const choices = of('mode=split&in_pieces=false&cut=a%0Ab%26c');
    expect(choices).toEqual({ mode: 'split', in_pieces: 'false', cut: ['a', 'b&c'] });
    expect(whatIfPath('id', choices)).toBe('/v1/builds/id/what_if?mode=split&in_pieces=false&cut=a&cut=b%26c');
  });

  it('is the build as it was where the address says nothing, or nonsense', () => {
    expect(of('mode=x&in_pieces=x')).toEqual({ mode: null, in_pieces: null, cut: [] });
    expect(whatIfPath('a/b', of(''))).toBe('/v1/builds/a%2Fb/what_if');
    expect(whatIfPath('id', of('cut=a'))).toBe('/v1/builds/id/what_if?cut=a');
  });

  it('cuts a file, and takes that back', () => {
    expect(withCut([], 'a')).toBe('a');
    expect(withCut(['a'], 'b')).toBe('a\nb');
    expect(withCut(['a', 'b'], 'a')).toBe('b');
    expect(withCut(['a'], 'a')).toBeNull();
  });
});
