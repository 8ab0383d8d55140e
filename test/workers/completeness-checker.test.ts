import { describe, expect, it } from 'vitest';
import { limits } from '../../src/limits.js';
import { CompletenessChecker } from '../../src/workers/completeness-checker.js';
import type { CompletenessJson } from '../../src/workers/reads.js';

const stays = () => false;
const subject = (project: number, commit_hash: string) => ({ project, build: { commit_hash, branch: 'main', node_total: 1 } });

/** Comparisons that end one by one when they are told to; of which builds, in order. */
function comparing() {
  const began: string[] = [];
  let end = () => {};
  const completeness = ({ build }: ReturnType<typeof subject>) => {
    began.push(build.commit_hash);
    return new Promise<CompletenessJson>(resolve => (end = () => resolve({ isComplete: true, json: '{}' })));
  };
  const comparisons = new CompletenessChecker({ completeness } as never);
  const next = async () => {
    end();
    await new Promise(resolve => setImmediate(resolve));
  };
  return { comparisons, began, next };
}

describe('comparisons of builds', () => {
  it('are shared by requests that arrive before they begin, and repeated for later ones', async () => {
    const { comparisons, began, next } = comparing();
    const first = ['a', 'b', 'b', 'b'].map(build => comparisons.compare(subject(1, build), stays));
    await next();
    const later = [comparisons.compare(subject(1, 'a'), stays), comparisons.compare(subject(1, 'a'), stays)];
    for (let i = 0; i < 3; i++) await next();
    expect((await Promise.all([...first, ...later])).every(({ isComplete }) => isComplete)).toBe(true);
    expect(began).toEqual(['a', 'b', 'a']);
  });

  it('alternate between projects', async () => {
    const { comparisons, began, next } = comparing();
    const all = ['a', 'b', 'c', 'd'].map(build => comparisons.compare(subject(1, build), stays));
    all.push(comparisons.compare(subject(2, 'other'), stays));
    for (let i = 0; i < 6; i++) await next();
    await Promise.all(all);
    expect(began).toEqual(['a', 'b', 'other', 'c', 'd']);
  });

  it('are skipped if all their clients have left', async () => {
    const { comparisons, began, next } = comparing();
    const left = () => true;
    const all = [
      comparisons.compare(subject(1, 'a'), stays),
      comparisons.compare(subject(1, 'b'), left),
      comparisons.compare(subject(1, 'c'), left),
      comparisons.compare(subject(1, 'c'), stays),
    ];
    const settled = Promise.allSettled(all);
    for (let i = 0; i < 4; i++) await next();
    expect((await settled).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(began).toEqual(['a', 'c']);
  });

  it('are refused if too many of the same project wait', async () => {
    const { comparisons } = comparing();
    for (let i = 0; i <= limits.waitingComparisonsPerProject; i++) void comparisons.compare(subject(1, `${i}`), stays);
    await expect(comparisons.compare(subject(1, 'more'), stays)).rejects.toMatchObject({
      status: 503,
      headers: { 'Retry-After': String(limits.retryAfterSeconds) },
    });
    // A comparison that waits already is shared.
    void comparisons.compare(subject(1, '7'), stays);
    const other = comparisons.compare(subject(2, 'a'), stays);
    expect(
      await Promise.race([
        other.then(
          () => 'done',
          () => 'refused',
        ),
        Promise.resolve('waits'),
      ]),
    ).toBe('waits');
  });
});
