import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { limits } from '../../../src/protocol/limits.js';
import { CompletenessChecker } from '../../../src/server/api/completeness-checker.js';
import { WAITING_COMPARISONS_PER_PROJECT } from '../../../src/server/api/job-runner.js';
import { jobOf } from '../../harness/asker.js';
import { heldJobs } from '../../harness/held-jobs.js';

const subject = (project: number, commit_hash: string) => ({ project, build: { commit_hash, branch: 'main', node_total: 1 } });

/** Comparisons that end one by one when they are told to; of which builds, in order. */
function comparing() {
  const { jobs, began: tasks, end: next } = heldJobs(2, () => ({ isComplete: true, json: '{}' }));
  const began = () => tasks.map(({ input }) => (input as ReturnType<typeof subject>).build.commit_hash);
  return { comparisons: new CompletenessChecker(jobs), began, next };
}

describe('comparisons of builds', () => {
  it('are shared by requests that arrive before they begin, and repeated for later ones', async () => {
    const { comparisons, began, next } = comparing();
    const first = ['a', 'b', 'b', 'b'].map(build => comparisons.compare(subject(1, build), jobOf(1)));
    await next();
    const later = [comparisons.compare(subject(1, 'a'), jobOf(1)), comparisons.compare(subject(1, 'a'), jobOf(1))];
    for (let i = 0; i < 3; i++) await next();
    expect((await Promise.all([...first, ...later])).every(({ isComplete }) => isComplete)).toBe(true);
    expect(began()).toEqual(['a', 'b', 'a']);
  });

  it('are skipped if all their clients have left', async () => {
    const { comparisons, began, next } = comparing();
    const left = () => true;
    const all = [
      comparisons.compare(subject(1, 'a'), jobOf(1)),
      comparisons.compare(subject(1, 'b'), jobOf(1, left)),
      comparisons.compare(subject(1, 'c'), jobOf(1, left)),
      comparisons.compare(subject(1, 'c'), jobOf(1)),
    ];
    const settled = Promise.allSettled(all);
    for (let i = 0; i < 4; i++) await next();
    expect((await settled).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(began()).toEqual(['a', 'c']);
  });

  it('are refused if too many of the same project wait', async () => {
    const { comparisons } = comparing();
    for (let i = 0; i <= WAITING_COMPARISONS_PER_PROJECT; i++) void comparisons.compare(subject(1, `${i}`), jobOf(1));
    await expect(comparisons.compare(subject(1, 'more'), jobOf(1))).rejects.toMatchObject({
      status: 503,
      headers: { 'Retry-After': String(limits.retryAfterSeconds) },
    });
    // A comparison that waits already is shared.
    void comparisons.compare(subject(1, '7'), jobOf(1));
    const ended = vi.fn();
    void comparisons.compare(subject(2, 'a'), jobOf(2)).then(ended, ended);
    await nextTurn();
    expect(ended).not.toHaveBeenCalled();
  });
});
