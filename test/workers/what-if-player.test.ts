import { describe, expect, it } from 'vitest';
import type { WhatIfSubject } from '../../src/engine/insight/what-if/prepare-what-if.js';
import type { Scenario } from '../../src/engine/insight/what-if/scenario.js';
import { limits } from '../../src/limits.js';
import type { WorkerPool } from '../../src/workers/pool.js';
import { WhatIfPlayer } from '../../src/workers/what-if-player.js';
import { jobOf, pageOf } from '../harness/asker.js';

type Part = { nodes: number[] };

const scenario = (files: number) =>
  ({ suite: { weights: new Float64Array(files), seconds: new Float64Array(files) }, deviations: new Float64Array() }) as Scenario;
const counts = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

/** A player whose workers note each part, and end it when they are told to. */
function player() {
  const parts: number[][] = [];
  const ends: (() => void)[] = [];
  const whatIf = (_job: string, { nodes }: Part) => {
    parts.push(nodes);
    return new Promise(resolve => ends.push(() => resolve(nodes.map(count => ({ nodes: count })))));
  };
  const end = async () => {
    ends.shift()!();
    await new Promise(resolve => setImmediate(resolve));
  };
  return { player: new WhatIfPlayer({ whatIf } as unknown as Pick<WorkerPool, 'whatIf'>), parts, end };
}

describe('builds that are played', () => {
  it('run in turns of a limited number of files, one at a time, and projects alternate', async () => {
    const { player: whatIfs, parts, end } = player();
    const files = limits.playedFilesPerTurn / 5;
    const first = whatIfs.variants(scenario(files), counts(9), jobOf(1));
    const other = whatIfs.variants(scenario(10), [70], jobOf(2));
    for (let turn = 1; turn <= 4; turn++) {
      expect(parts).toHaveLength(turn);
      await end();
    }
    expect(parts).toEqual([[1, 2, 3, 4], [70], [5, 6, 7, 8], [9]]);
    expect(await first).toEqual(counts(9).map(nodes => ({ nodes })));
    expect(await other).toEqual([{ nodes: 70 }]);
  });

  it('play a suite of any size', async () => {
    const { player: whatIfs, parts, end } = player();
    const played = whatIfs.variants(scenario(2 * limits.playedFilesPerTurn), [3, 4], jobOf(1));
    for (let turn = 0; turn < 2; turn++) await end();
    await played;
    expect(parts).toEqual([[3], [4]]);
  });

  it('end when their client leaves', async () => {
    const { player: whatIfs, parts, end } = player();
    let hasLeft = false;
    const played = whatIfs.variants(
      scenario(limits.playedFilesPerTurn),
      counts(3),
      jobOf(1, () => hasLeft),
    );
    const failed = expect(played).rejects.toMatchObject({ status: 408 });
    hasLeft = true;
    await end();
    await failed;
    expect(parts).toHaveLength(1);
    // The turn is free for others.
    void whatIfs.variants(scenario(1), [5], jobOf(2));
    expect(parts.at(-1)).toEqual([5]);
  });

  it('are refused with a 503 when too many of a project wait, and not those of others', async () => {
    const { player: whatIfs, parts, end } = player();
    for (let i = 0; i <= limits.waitingWhatIfsPerProject; i++) void whatIfs.prepare({ nodes: [i] } as unknown as WhatIfSubject, jobOf(1));
    await expect(whatIfs.prepare({} as WhatIfSubject, jobOf(1))).rejects.toMatchObject({ status: 503 });
    const other = whatIfs.prepare({ nodes: [99] } as unknown as WhatIfSubject, jobOf(2));
    await end();
    await end();
    expect(parts.at(-1)).toEqual([99]);
    void other;
  });

  it('on pages are refused with a 429, and leave room for the plans of CI jobs', async () => {
    const { player: whatIfs, parts, end } = player();
    for (let i = 0; i <= limits.waitingWhatIfsPerProject; i++) void whatIfs.prepare({ nodes: [i] } as unknown as WhatIfSubject, pageOf(1));
    await expect(whatIfs.prepare({} as WhatIfSubject, pageOf(1))).rejects.toMatchObject({ status: 429, headers: { 'Retry-After': '2' } });
    void whatIfs.variants(scenario(1), [99], jobOf(1));
    await end();
    await end();
    expect(parts).toEqual([[0], [1], [99]]);
  });
});
