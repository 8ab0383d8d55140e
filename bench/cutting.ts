import { fileOf } from '../src/protocol/test-case.js';
import { type CuttableFile, cutFiles, longFiles } from '../src/server/planning/cutting/cut.js';
import { longestFirst } from '../src/server/planning/packing/pack.js';
import { toWeight } from '../src/server/planning/weight.js';
import type { Suite } from '../test/testbed/suites.js';
import type { Result } from './results.js';
import { geometricMean } from './suites/geometric-mean.js';

const NODES = [4, 8, 16, 32];
/** Time that a file takes besides its cases, as a part of them: imports, fixtures. Each piece takes it again. */
const OWN_PARTS = [0, 0.05, 0.2];
/** The start of a test runner, which each piece pays. */
const PULL_SECONDS = 2;

interface PlayedFile extends CuttableFile {
  weight: number;
}

/** The files of a suite that was recorded by test cases, the longest first. */
function filesOf({ timings }: Suite, ownPart: number): PlayedFile[] {
  const byFile = new Map<string, number[]>();
  for (const [path, seconds] of timings) {
    const file = fileOf(path);
    if (file !== null) byFile.set(file, [...(byFile.get(file) ?? []), toWeight(seconds)]);
  }
  const files = Array.from(byFile.values(), cases => {
    const sum = cases.reduce((total, weight) => total + weight, 0);
    const own = Math.round(ownPart * sum);
    return { cases, own, weight: sum + own };
  });
  return files.sort((a, b) => b.weight - a.weight).map((file, place) => ({ file: place, ...file }));
}

/** Suites of test cases, packed with their long files whole, and in pieces. */
export function cutting(suites: readonly Suite[]): Result {
  const byCase = suites.filter(suite => filesOf(suite, 0).some(({ cases }) => cases.length > 1));
  const rows = OWN_PARTS.flatMap(ownPart =>
    NODES.map(nodes => {
      const played = byCase.map(suite => play(filesOf(suite, ownPart), nodes));
      const gains = played.map(({ gain }) => gain);
      const ratios = played.map(({ ratio }) => ratio);
      return [
        `${100 * ownPart} % besides cases, ${nodes} nodes`,
        geometricMean(gains).toFixed(2),
        `${Math.min(...gains).toFixed(2)} to ${Math.max(...gains).toFixed(2)}`,
        geometricMean(ratios).toFixed(3),
        Math.max(...ratios).toFixed(3),
        `${Math.min(...played.map(({ more }) => more))} to ${Math.max(...played.map(({ more }) => more))}`,
      ];
    }),
  );
  return {
    title: 'Pieces of long files',
    head: ['', 'times as fast, mean', 'times as fast', 'over the bound, mean', 'over the bound, worst', 'more units'],
    rows,
    legend: `${byCase.length} suites that were recorded by test cases. Makespan of the packed suite with whole files over that with the long files in pieces: geometric mean, least and most. The bound is that of pieces of any size: max(total / nodes, longest case). Each piece pays what the file takes besides its cases, and ${PULL_SECONDS} s for the start of a test runner.`,
  };
}

function play(files: readonly PlayedFile[], nodes: number): { gain: number; ratio: number; more: number } {
  const weights = Float64Array.from(files, ({ weight }) => weight);
  const pullCost = toWeight(PULL_SECONDS);
  const long = new Set(longFiles(weights, nodes));
  const cuttable = files.filter(({ file, cases }) => long.has(file) && cases.length > 1);
  const cut = cutFiles(weights, nodes, cuttable, { hidden: 0, slowdown: 1, pullCost });
  const before = longestFirst(weights, nodes).loads.reduce((most, load) => Math.max(most, load), 0);
  const after = cut?.after ?? before;
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const longestCase = files.reduce((most, { cases, own }) => Math.max(most, own + cases.reduce((a, b) => Math.max(a, b), 0)), 0);
  const more = cut?.cuts.reduce((sum, { pieces }) => sum + pieces.length - 1, 0) ?? 0;
  return { gain: before / after, ratio: after / Math.max(total / nodes, longestCase), more };
}
