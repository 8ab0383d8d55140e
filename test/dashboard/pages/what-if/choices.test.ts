import { describe, expect, it } from 'vitest';
import { choicesOf, nodeCountsPath, whatIfPath } from '../../../../src/dashboard/pages/what-if/choices.js';

const of = (query: string) => choicesOf(new URLSearchParams(query));

describe('what is played again', () => {
  it('is in the address', () => {
    const choices = of('mode=split&in_pieces=false');
    expect(choices).toEqual({ mode: 'split', in_pieces: 'false' });
    expect(whatIfPath('id', choices)).toBe('/v1/builds/id/what_if?mode=split&in_pieces=false');
    expect(nodeCountsPath('a/b', choices)).toBe('/v1/trends/node_counts?branch=a%2Fb&mode=split&in_pieces=false');
  });

  it('is the build as it was where the address says nothing', () => {
    expect(of('')).toEqual({ mode: null, in_pieces: null });
    expect(whatIfPath('a/b', of(''))).toBe('/v1/builds/a%2Fb/what_if');
  });
});
