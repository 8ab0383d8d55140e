import { describe, expect, it } from 'vitest';
import { choicesOf, whatIfPath } from '../../../../src/dashboard/pages/what-if/choices.js';

const of = (query: string) => choicesOf(new URLSearchParams(query));

describe('what is played again', () => {
  it('is in the address', () => {
    const choices = of('mode=split&in_pieces=false');
    expect(choices).toEqual({ mode: 'split', in_pieces: 'false' });
    expect(whatIfPath('id', choices)).toBe('/v1/builds/id/what_if?mode=split&in_pieces=false');
  });

  it('is the build as it was where the address says nothing, or nonsense', () => {
    expect(of('mode=x&in_pieces=x')).toEqual({ mode: null, in_pieces: null });
    expect(whatIfPath('a/b', of(''))).toBe('/v1/builds/a%2Fb/what_if');
  });
});
