import { describe, expect, it } from 'vitest';
import {
  bytes,
  count,
  duration,
  exactDuration,
  number,
  offset,
  percent,
  times,
  unbroken,
  when,
} from '../../../src/dashboard/text/format.js';

describe('a duration', () => {
  it.each([
    [0, '0 s'],
    [0.0004, '0 s'],
    [0.34, '340 ms'],
    [0.9996, '1.0 s'],
    [4.24, '4.2 s'],
    [9.96, '10 s'],
    [94.4, '94 s'],
    [99.6, '1 m 40 s'],
    [482, '8 m 02 s'],
    [3599.4, '59 m 59 s'],
    [3599.6, '1 h 00 m'],
    [3840, '1 h 04 m'],
    [86_400, '1 d 0 h'],
    [183_600, '2 d 3 h'],
    [-12.2, '−12 s'],
    [null, '–'],
    [Number.NaN, '–'],
  ])('of %s s reads as people say it', (seconds, text) => {
    expect(duration(seconds)).toBe(text);
  });

  it('is exact on hover', () => {
    expect([exactDuration(492.3184), exactDuration(1234.5), exactDuration(null)]).toEqual(['492.318 s', '1\u202f234.500 s', 'unknown']);
  });
});

describe('a number', () => {
  it('has its thousands apart', () => {
    expect([number(0), number(999), number(1122), number(1_000_000), number(-1234.5, 1)]).toEqual([
      '0',
      '999',
      '1\u202f122',
      '1\u202f000\u202f000',
      '\u22121\u202f234.5',
    ]);
  });

  it('has its unit', () => {
    expect([percent(0), percent(0.043), percent(0.0996), percent(null)]).toEqual(['0\u202f%', '4.3\u202f%', '10\u202f%', '–']);
    expect([times(3.14), times(12.4), times(null)]).toEqual(['3.1×', '12×', '–']);
    expect([count(1, 'file'), count(1212, 'file'), count(2, 'batch', 'batches')]).toEqual(['1 file', '1\u202f212 files', '2 batches']);
    expect([bytes(0), bytes(999), bytes(1200), bytes(999_600), bytes(12_400_000)]).toEqual(['0 B', '999 B', '1.2 kB', '1.0 MB', '12 MB']);
  });
});

describe('a sentence', () => {
  it.each([
    ['It took 9 m 10 s, 340 ms more.', 'It took 9_m_10_s, 340_ms more.'],
    ['It ends 1 h 04 m later, 2 d 3 h in all: \u221212 s.', 'It ends 1_h_04_m later, 2_d_3_h in all: \u221212_s.'],
    ['Node 3 was slow in 18 of 20 builds.', 'Node 3 was slow in 18_of_20 builds.'],
    ['1 project, 12 nodes, 3 slow and 4 more.', '1 project, 12 nodes, 3 slow and 4 more.'],
  ])('does not break within a duration and a part of a number: %s', (sentence, text) => {
    expect(unbroken(sentence)).toBe(text.replaceAll('_', '\u00a0'));
  });
});

describe('a time', () => {
  const now = Date.UTC(2026, 10, 22, 12);

  it.each([
    [0, 'just now'],
    [59, 'just now'],
    [60, '1 m ago'],
    [3599, '59 m ago'],
    [3600, '1 h ago'],
    [86_399, '23 h ago'],
  ])('of %s s ago is relative', (seconds, text) => {
    expect(when(now - seconds * 1000, now)).toBe(text);
  });

  it('of another day, or of a clock that is ahead, is a date', () => {
    for (const time of [now - 86_400_000, now + 5000]) expect(when(time, now)).toMatch(/^2026-11-2[123]$/);
  });
});

describe('a mark of an axis', () => {
  it.each([
    [0, 60, '0'],
    [120, 60, '2 m'],
    [250, 10, '4 m 10 s'],
    [4200, 600, '1 h 10 m'],
    [0.25, 0.05, '0.25 s'],
    [1.5, 0.5, '1.5 s'],
  ])('at %s s, every %s s', (seconds, step, text) => {
    expect(offset(seconds, step)).toBe(text);
  });
});
