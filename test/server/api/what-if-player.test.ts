import { describe, expect, it } from 'vitest';
import type { Asker } from '../../../src/server/api/job-runner.js';
import { WAITING_WHAT_IFS_PER_PROJECT } from '../../../src/server/api/job-runner.js';
import { PLAYED_FILES_PER_TURN, WhatIfPlayer } from '../../../src/server/api/what-if-player.js';
import type { WhatIfSubject } from '../../../src/server/insight/what-if/prepare-what-if.js';
import type { Scenario } from '../../../src/server/insight/what-if/scenario.js';
import { jobOf, pageOf } from '../../harness/asker.js';
import { heldJobs } from '../../harness/held-jobs.js';

type Part = { nodes: number[] };

const scenario = (files: number) =>
  ({ suite: { weights: new Float64Array(files), seconds: new Float64Array(files) }, deviations: new Float64Array() }) as Scenario;
const counts = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

/** A player whose parts end when they are told to. */
function player() {
  const { jobs, began, begun, end } = heldJobs(1, ({ input }) => (input as Part).nodes.map(count => ({ nodes: count })));
  const parts = () => began.map(({ input }) => (input as Part).nodes);
  const prepare = (node: number, asker: Asker) => jobs.read('prepareWhatIf', { nodes: [node] } as unknown as WhatIfSubject, asker);
  return { player: new WhatIfPlayer(jobs), prepare, parts, begun, end };
}

describe('builds that are played', () => {
  it('run in turns of a limited number of files, one at a time, and projects alternate', async () => {
    const { player: whatIfs, parts, begun, end } = player();
    const files = PLAYED_FILES_PER_TURN / 5;
    const first = whatIfs.variants(scenario(files), counts(9), jobOf(1));
    const other = whatIfs.variants(scenario(10), [70], jobOf(2));
    for (let turn = 1; turn <= 4; turn++) {
      await begun();
      expect(parts()).toHaveLength(turn);
      await end();
    }
    expect(parts()).toEqual([[1, 2, 3, 4], [70], [5, 6, 7, 8], [9]]);
    expect(await first).toEqual(counts(9).map(nodes => ({ nodes })));
    expect(await other).toEqual([{ nodes: 70 }]);
  });

  it('play a suite of any size', async () => {
    const { player: whatIfs, parts, end } = player();
    const played = whatIfs.variants(scenario(2 * PLAYED_FILES_PER_TURN), [3, 4], jobOf(1));
    for (let turn = 0; turn < 2; turn++) await end();
    await played;
    expect(parts()).toEqual([[3], [4]]);
  });

  it('end when their client leaves', async () => {
    const { player: whatIfs, parts, begun, end } = player();
    let hasLeft = false;
    const played = whatIfs.variants(
      scenario(PLAYED_FILES_PER_TURN),
      counts(3),
      jobOf(1, () => hasLeft),
    );
    await begun();
    const failed = expect(played).rejects.toMatchObject({ status: 408 });
    hasLeft = true;
    await end();
    await failed;
    expect(parts()).toHaveLength(1);
    // The turn is free for others.
    void whatIfs.variants(scenario(1), [5], jobOf(2));
    await begun();
    expect(parts().at(-1)).toEqual([5]);
  });

  it('are refused with a 503 when too many of a project wait, and not those of others', async () => {
    const { prepare, parts, end } = player();
    for (let i = 0; i <= WAITING_WHAT_IFS_PER_PROJECT; i++) void prepare(i, jobOf(1));
    await expect(prepare(0, jobOf(1))).rejects.toMatchObject({ status: 503 });
    const other = prepare(99, jobOf(2));
    await end();
    await end();
    expect(parts().at(-1)).toEqual([99]);
    void other;
  });

  it('on pages are refused with a 429, and leave room for the plans of CI jobs', async () => {
    const { player: whatIfs, prepare, parts, end } = player();
    for (let i = 0; i <= WAITING_WHAT_IFS_PER_PROJECT; i++) void prepare(i, pageOf(1));
    await expect(prepare(0, pageOf(1))).rejects.toMatchObject({ status: 429, headers: { 'Retry-After': '2' } });
    void whatIfs.variants(scenario(1), [99], jobOf(1));
    await end();
    await end();
    expect(parts()).toEqual([[0], [1], [99]]);
  });
});
