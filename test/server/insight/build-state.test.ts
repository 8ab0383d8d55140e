import { describe, expect, it } from 'vitest';
import { type BuildEnd, buildState, hasEndedComplete, missesFiles } from '../../../src/protocol/build-state.js';

const end = (more: Partial<BuildEnd>): BuildEnd => ({
  ...{ kind: 'queue', isRunning: false, wasCancelled: false, missing: 0, failed: null, hasEveryNode: true },
  ...more,
});

describe('the state of a build', () => {
  it.each([
    ['running', { isRunning: true, wasCancelled: true, missing: 1, failed: 1 }],
    ['cancelled', { wasCancelled: true, missing: 1, failed: 1 }],
    ['missing', { missing: 1, failed: 1 }],
    ['failed', { failed: 1 }],
    // Other nodes ran the files of those that were cancelled.
    ['failed', { wasCancelled: true, failed: 1 }],
    ['complete', { failed: 0 }],
    ['complete', { failed: 0, hasEveryNode: false }],
    ['recorded', { failed: null }],
    ['partial', { kind: 'recordings', hasEveryNode: false }],
    ['failed', { kind: 'recordings', failed: 1 }],
    ['unplanned', { kind: 'recordings' }],
    ['unplanned', { kind: 'recordings', failed: 0 }],
  ] as const)('is %s by what matters most', (state, more) => {
    expect(buildState(end(more))).toBe(state);
  });

  it('tells whether its times are those of a whole build, and whether files are missing', () => {
    const states = ['running', 'cancelled', 'missing', 'partial', 'failed', 'unplanned', 'recorded', 'complete', 'unknown'] as const;
    expect(states.filter(hasEndedComplete)).toEqual(['failed', 'unplanned', 'recorded', 'complete']);
    expect(states.filter(state => state !== 'unknown' && missesFiles(state))).toEqual(['cancelled', 'missing']);
  });
});
