import { describe, expect, it } from 'vitest';
import { cuttingLine, endLine, startLine } from '../../src/cli/node/text/queue-forecast.js';
import type { QueueForecast } from '../../src/protocol/messages/queue.js';

/** A local time of day. */
const at = (hours: number, minutes: number, seconds: number) => new Date(2026, 10, 25, hours, minutes, seconds).getTime();
const START = at(14, 24, 40);

const forecast = (overrides: Partial<QueueForecast> = {}): QueueForecast => ({
  ...{ test_files: 840, unknown_files: 28, share: 371, ends_in: 380, earliest_in: 360, latest_in: 410 },
  ...overrides,
});

describe('the line of a node that has joined a queue', () => {
  it.each<[situation: string, overrides: Partial<QueueForecast>, line: string]>([
    [
      'some files are new',
      {},
      '840 test files, 812 measured before; this node should work for 6 m 11 s; all nodes should end at 14:31:00, give or take 30 s',
    ],
    [
      'all files were measured',
      { unknown_files: 0 },
      '840 test files, all measured before; this node should work for 6 m 11 s; all nodes should end at 14:31:00, give or take 30 s',
    ],
    [
      'no file was measured',
      { unknown_files: 840, share: null, ends_in: null, earliest_in: null, latest_in: null },
      '840 test files, none measured before: when the build ends is not known',
    ],
  ])('says what is expected when %s', (_, overrides, line) => {
    expect(startLine(forecast(overrides), START)).toBe(line);
  });
});

describe('the line of a node that has ended', () => {
  it.each<[situation: string, overrides: Partial<QueueForecast>, seconds: number, line: string | null]>([
    ['earlier than all nodes should', {}, 362, 'this node ended at 14:30:42, after 6 m 02 s, 18 s before the expected end of all nodes'],
    ['later', {}, 420, 'this node ended at 14:31:40, after 7 m 00 s, 40 s after the expected end of all nodes'],
    ['on time', {}, 380, 'this node ended at 14:31:00, after 6 m 20 s, at the expected end of all nodes'],
    ['and nothing was expected', { ends_in: null }, 380, null],
  ])('says how it came out: %s', (_, overrides, seconds, line) => {
    expect(endLine(forecast(overrides), START, seconds)).toBe(line);
  });
});

it.each([
  ['would save', { files: 2, saves: 190, is_done: false }, 'running 2 long test files in pieces would save 3 m 10 s: add --pieces'],
  ['should save', { files: 1, saves: 20, is_done: true }, 'the queue had 1 long test file in pieces, so the build should end 20 s sooner'],
])('the line about pieces tells what they %s', (_, cutting, line) => {
  expect(cuttingLine(forecast({ cutting }))).toBe(line);
  expect(cuttingLine(forecast())).toBeNull();
});
