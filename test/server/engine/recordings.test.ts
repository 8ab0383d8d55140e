import { describe, expect, it } from 'vitest';
import { type FoundRun, outcomeAmongProcesses } from '../../../src/server/engine/recordings.js';

const SECOND = 1000;
const NOW = 1_800_000_000_000;

/** A run of the same files that another process recorded so many milliseconds after the new one was received. */
const other = (later: number, changes: Partial<FoundRun> = {}): FoundRun => ({
  created_at: NOW + later,
  isSame: true,
  kept: 1,
  isItself: false,
  isRepeated: false,
  ...changes,
});

const client = (state: 'waits' | 'repeats' | 'has left' = 'waits') => ({
  isRetry: state === 'repeats',
  hasLeft: () => state === 'has left',
});

describe('a run that several processes may record', () => {
  it.each<[string, FoundRun | null, ReturnType<typeof client>]>([
    ['the node has no run', null, client()],
    ['another run of the node came at about the same time', other(500), client()],
    ['another run of the node came before', other(-SECOND), client()],
    ['a run with other times came later', other(5 * SECOND, { isSame: false }), client()],
    ['the same run came an hour later: the clock was set back', other(3600 * SECOND), client()],
    ['the same run was recorded an hour ago, and the client repeats it', other(-3600 * SECOND), client('repeats')],
  ])('is to be recorded if %s', (_, last, caller) => {
    expect(outcomeAmongProcesses(last, caller, NOW)).toBeNull();
  });

  it.each<[string, FoundRun, ReturnType<typeof client>]>([
    ['an attempt recorded it, and got no answer', other(0, { isItself: true }), client()],
    ['the client paused, and repeated it elsewhere', other(SECOND), client()],
    ['the client said that it repeats it elsewhere', other(100, { isRepeated: true }), client()],
    ['the client has left, and recorded it elsewhere', other(-SECOND), client('has left')],
  ])('is recorded if %s', (_, last, caller) => {
    expect(outcomeAmongProcesses(last, caller, NOW)).toBe('recorded');
  });

  it('is already recorded if the client repeats it after another process recorded it', () => {
    expect(outcomeAmongProcesses(other(-SECOND), client('repeats'), NOW)).toBe('already recorded');
  });

  it('is refused if the node was retried too often', () => {
    expect(outcomeAmongProcesses(other(-SECOND, { kept: 101, isSame: false }), client(), NOW)).toBe('retried too often');
  });
});
