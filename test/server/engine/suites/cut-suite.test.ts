import { describe, expect, it } from 'vitest';
import type { NamedCases } from '../../../../src/protocol/case-outcomes.js';
import { READ_CASE_BYTES_PER_REQUEST } from '../../../../src/server/engine/pieces/known-cases.js';
import type { KeptCases } from '../../../../src/server/engine/ports/cases.js';
import {
  CUT_CHARACTERS_PER_QUEUE,
  savedSeconds,
  type WorthCutting,
  withPieces,
  worthCutting,
} from '../../../../src/server/engine/suites/cut-suite.js';
import { suiteOf } from '../../../../src/server/engine/suites/suite.js';
import { emptyBasis } from '../../../../src/server/planning/estimating/basis.js';
import { toWeight } from '../../../../src/server/planning/weight.js';

const FREE = { hidden: 0, slowdown: 1, pullCost: 0 };

/** Files with these seconds, the longest first. */
function estimatesOf(seconds: Readonly<Record<string, number>>) {
  const sorted = Object.entries(seconds).sort(([, a], [, b]) => b - a);
  const list = suiteOf(sorted.map(([path]) => path));
  const places = new Map(list.strings().map((path, place) => [path, place]));
  return {
    list,
    order: Uint32Array.from(sorted, ([path]) => places.get(path)!),
    seconds: Float64Array.from(sorted, ([, each]) => each),
    weights: Float64Array.from(sorted, ([, each]) => toWeight(each)),
    basis: emptyBasis(sorted.length),
  };
}

/** Cases of so many seconds, with names of so many characters. */
const casesOf = (count: number, seconds: number, characters = 1): NamedCases[] =>
  Array.from({ length: count }, (_, i) => ({ name: String.fromCharCode(97 + i).repeat(characters), seconds, outcomes: { passed: 1 } }));

function report(file: string, cases: NamedCases[], more: Partial<KeptCases> = {}): KeptCases {
  const seconds = cases.reduce((sum, one) => sum + one.seconds, 0);
  return { file, piece: null, ci_run: '1', commit_hash: 'abc', runner: 'pytest', seconds, cases, passed_whole: [], at: 1, ...more };
}

function worth(
  seconds: Readonly<Record<string, number>>,
  kept: readonly KeptCases[],
  nodeTotal: number,
  isWorker = true,
  read: string[] = [],
) {
  const cases = {
    keep: async () => {},
    of: (_: number, file: string, mostBytes: number) => {
      const ofFile = kept.filter(one => one.file === file);
      const bytes = JSON.stringify(ofFile).length;
      if (bytes > mostBytes) return null;
      read.push(file);
      return { kept: ofFile, bytes };
    },
  };
  return worthCutting({ cases }, 1, estimatesOf(seconds), { nodeTotal, cost: FREE, runner: 'pytest', isWorker });
}

const short = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`short ${i}`, 6]));

describe('a long file', () => {
  const whole = report('long', casesOf(12, 10));
  /** Cases of a file that was faster in pieces the last time, which reported 3 s of each case. */
  const inPieces = [1, 2].map(number =>
    report('long', casesOf(12, 3).slice(6 * (number - 1), 6 * number), { piece: { number, count: 2 }, at: 2 }),
  );

  it('saves by its pieces what its estimate says', async () => {
    const found = (await worth({ ...short, long: 120 }, [whole], 4)) as WorthCutting;
    expect(savedSeconds(found.cutting)).toBeCloseTo(60);
  });

  it('that ran in pieces the last time saves what these say, and not its older estimate', async () => {
    const found = (await worth({ ...short, long: 120 }, [whole, ...inPieces], 8)) as WorthCutting;
    expect(savedSeconds(found.cutting)).toBeLessThan(36);
  });

  it('stays whole, or has its cases in pieces, also if what it took is out of all proportion', async () => {
    for (const seconds of [0, 1e300]) {
      const files = estimatesOf({ ...short, long: 120 });
      const found = (await worth({ ...short, long: 120 }, [{ ...whole, seconds }], 4)) as WorthCutting | null;
      const cuts = found && withPieces(files, found).cuts.files;
      expect(cuts?.flatMap(({ pieces }) => pieces.flat()) ?? whole.cases.map(({ name }) => name)).toEqual(
        whole.cases.map(({ name }) => name),
      );
    }
  });
});

describe('of many long files', () => {
  const names = Array.from({ length: 17 }, (_, i) => `long ${i}`);
  const seconds = Object.fromEntries(names.map(name => [name, 100]));

  it('a worker thread reads the cases', async () => {
    const kept = names.map(name => report(name, casesOf(10, 10)));
    expect(await worth(seconds, kept, 2 * names.length, false)).toBe('worker');
    expect(await worth(seconds, kept, 2 * names.length)).toMatchObject({ known: { size: names.length } });
  });

  it('no more is read than a queue can use, whatever was reported of their pieces', async () => {
    const characters = Math.floor(READ_CASE_BYTES_PER_REQUEST / 7 / 10);
    const pieces = names.flatMap(name => [1, 2].map(number => report(name, casesOf(10, 10, characters), { piece: { number, count: 9 } })));
    const read: string[] = [];
    const kept = [...names.map(name => report(name, casesOf(10, 10))), ...pieces];
    await worth(seconds, kept, 2 * names.length, true, read);
    expect(read).toEqual(names.slice(0, 3));
  });

  it('those are cut whose cases have names that a queue has room for', async () => {
    const fitting = 5;
    const kept = names.map(name => report(name, casesOf(10, 10, Math.floor(CUT_CHARACTERS_PER_QUEUE / fitting / 10))));
    const longest = Object.fromEntries(names.slice(0, fitting).map(name => [name, 300]));
    const { known, cutting } = (await worth({ ...seconds, ...longest }, kept, 2 * names.length)) as WorthCutting;
    expect([known.size, cutting.cuts.length]).toEqual([fitting, fitting]);
  });
});
