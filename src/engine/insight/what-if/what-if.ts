import type { Mode } from '../../../planning/estimating/estimate.js';
import { toSeconds, toWeight } from '../../../planning/weight.js';
import { type Timeline, wasMostlyGuessed } from '../timeline/timeline.js';
import { assume, type Cut, type EstimatesOf } from './assumptions.js';
import { type Observed, observe, showsPullCost } from './observed.js';
import type { PlayedSuite } from './play.js';
import { mostUsefulNodes, play, type Scenario, withCost } from './scenario.js';
import { speedsIn } from './speeds.js';
import type { Assumptions } from './what-if-answer.js';

/** What to change in a build that is played again; null: as it was. */
export interface Changes {
  mode: Mode | null;
  /** Null: see `usualEstimatesOf`. */
  estimates: EstimatesOf | null;
  /** Seconds. */
  startSpread: number | null;
  pullCost: number | null;
  /** Seconds of the job before a node starts. */
  setup: number;
  /** Files of the timeline to cut into pieces. */
  cut: readonly string[];
}

/** A build that is played so shows its own cost of a pull: the configured one plays no part. */
export const AS_IT_WAS: Changes = { mode: null, estimates: null, startSpread: null, pullCost: null, setup: 0, cut: [] };

/** What is known in addition to the timeline. */
export interface Knowledge {
  nodeTotal: number;
  /** Today's estimates by path; null: they are not needed. */
  now: { seconds: ReadonlyMap<string, number>; isGuessed: boolean } | null;
  /** Files of the timeline that might be worth cutting. */
  candidates: readonly string[];
  /** The seconds of the test cases of these and of the files to cut; a file whose test cases were never measured is missing. */
  cases: ReadonlyMap<string, readonly number[]>;
  /** The configured cost of a pull, as a weight, for a split that is played as a queue. */
  expectedPullCost: number;
}

/** A build that is ready to be played with other numbers of nodes. */
export interface WhatIf {
  scenario: Scenario;
  assumptions: Assumptions;
  /** See `mostUsefulNodes`. */
  mostUseful: number;
  longest: { path: string; seconds: number } | null;
  /** In the order of `Knowledge.candidates`, without files that are cut. */
  candidates: Candidate[];
}

/** A file that might be cut. */
export interface Candidate {
  path: string;
  seconds: number;
  /** Its index in the suite. */
  file: number;
  /** The pieces into which it would be cut, as parts of it. */
  parts: Float64Array;
}

/** A file or a piece of one, with two durations in seconds. */
interface PlayedFile {
  path: string;
  /** The duration to plan with. */
  estimate: number;
  /** The time that it takes on a node of usual speed. */
  seconds: number;
}

export function whatIfOf(timeline: Timeline, changes: Changes, knowledge: Knowledge): WhatIf {
  const observed = observe(timeline);
  const estimates = changes.estimates ?? usualEstimatesOf(timeline);
  const { speeds, spread: speedSpread } = speedsIn(timeline);
  const files = filesOf(timeline, observed, speeds, estimates, knowledge.now);
  const share = files.reduce((sum, { seconds }) => sum + seconds, 0) / knowledge.nodeTotal;
  const partsOfPath = (path: string) => partsOf(files.find(file => file.path === path)!, share, knowledge.cases.get(path));
  const parts = new Map(changes.cut.map(path => [path, partsOfPath(path)]));
  const cuts = [...parts].map(([path, own]): Cut => ({ path, pieces: own.length, is_measured: knowledge.cases.has(path) }));
  const played = inPlanningOrder(files.flatMap(file => piecesOf(file, parts.get(file.path))));
  const mode = changes.mode ?? (timeline.kind === 'queue' ? 'queue' : 'split');
  const isKnown = showsPullCost(timeline, mode);
  const pullCost = changes.pullCost ?? (isKnown ? observed.pullCost : toSeconds(knowledge.expectedPullCost));
  // Later builds begin with what was learned.
  const seen = estimates === 'then' ? timeline.expectedCost : null;
  const scenario: Scenario = {
    mode,
    suite: { weights: Float64Array.from(played, weightOf), seconds: Float64Array.from(played, ({ seconds }) => seconds) },
    deviations: new Float64Array(),
    isGuessed: estimates === 'then' ? wasMostlyGuessed(timeline) : estimates === 'now' && knowledge.now!.isGuessed,
    starts: observed.starts,
    startSpread: changes.startSpread,
    speeds,
    speedSpread,
    rate: observed.rate,
    hidden: observed.hidden,
    pullCost,
    setup: changes.setup,
    expected: { hidden: seen?.hidden ?? observed.hidden, pullCost: changes.pullCost ?? seen?.pull_cost ?? pullCost },
  };
  const unrecorded = observed.seconds.reduce((sum, time) => sum + Number(Number.isNaN(time)), 0);
  return {
    scenario,
    assumptions: assume(scenario, {
      estimates,
      wereGuesses: wasMostlyGuessed(timeline),
      cuts,
      unrecorded,
      nodeIndexes: observed.lanes.map(({ node_index }) => node_index),
      isPullCostObserved: changes.pullCost === null && isKnown,
    }),
    mostUseful: mostUsefulNodes(scenario),
    longest: longestOf(played),
    candidates: knowledge.candidates
      .filter(path => !parts.has(path))
      .map((path): Candidate => {
        const file = played.findIndex(each => each.path === path);
        return { path, seconds: played[file]!.seconds, file, parts: partsOfPath(path) };
      }),
  };
}

/** The estimates of the build, unless it had none or mostly guesses. The next build has better ones then, from the recorded times. */
export function usualEstimatesOf(timeline: Timeline): EstimatesOf {
  return timeline.kind === 'recordings' || wasMostlyGuessed(timeline) ? 'now' : 'then';
}

/** Returns the wall time with each file in pieces, in the order of the files. */
export function playCuts(scenario: Scenario, nodes: number, files: readonly Pick<Candidate, 'file' | 'parts'>[]): number[] {
  return files.map(({ file, parts }) => play(scenario, nodes, withCost(scenario, withFileCut(scenario.suite, file, parts))).wall);
}

/** A file that was recorded takes its time at usual speed; one that was not, its estimate. */
function filesOf(
  { paths, estimates: before }: Timeline,
  { seconds: recorded, nodes }: Observed,
  speeds: Float64Array,
  estimates: EstimatesOf,
  now: Knowledge['now'],
): PlayedFile[] {
  return paths.map((path, file) => {
    const time = recorded[file]!;
    const seconds = Number.isNaN(time) ? (before[file] ?? 0) : time * speeds[nodes[file]!]!;
    if (estimates === 'now') return { path, estimate: now!.seconds.get(path)!, seconds };
    return { path, estimate: (estimates === 'then' ? before[file] : null) ?? seconds, seconds };
  });
}

/** The parts into which a file is cut: its test cases, if these were measured, else equal ones. @param share the seconds of an even share */
function partsOf({ seconds }: PlayedFile, share: number, cases: readonly number[] | undefined): Float64Array {
  return cases ? partsOfCases(cases) : equalParts(seconds, share);
}

function piecesOf({ path, estimate, seconds }: PlayedFile, parts: Float64Array = Float64Array.of(1)): PlayedFile[] {
  return Array.from(parts, part => ({ path, estimate: estimate * part, seconds: seconds * part }));
}

function inPlanningOrder(files: PlayedFile[]): PlayedFile[] {
  return files.sort((a, b) => weightOf(b) - weightOf(a) || (a.path < b.path ? -1 : 1));
}

function weightOf({ estimate }: PlayedFile): number {
  return toWeight(estimate);
}

function longestOf(files: readonly PlayedFile[]): WhatIf['longest'] {
  const longest = files.reduce<PlayedFile | null>((most, file) => (most && most.seconds >= file.seconds ? most : file), null);
  return longest && { path: longest.path, seconds: longest.seconds };
}

/** Equal parts of at most an even share, and at least two. @param share seconds */
function equalParts(seconds: number, share: number): Float64Array {
  const pieces = share > 0 ? Math.max(2, Math.ceil(seconds / share)) : 2;
  return new Float64Array(pieces).fill(1 / pieces);
}

/** The parts that the test cases of a file have in it. @param cases their seconds, at least one */
function partsOfCases(cases: readonly number[]): Float64Array {
  const sum = cases.reduce((total, seconds) => total + seconds, 0);
  return Float64Array.from(cases, seconds => (sum > 0 ? seconds / sum : 1 / cases.length));
}

/** Returns the suite with one file in pieces. @param file its index @param parts of the file, at least one */
export function withFileCut({ weights, seconds }: PlayedSuite, file: number, parts: Float64Array): PlayedSuite {
  const pieces = parts.toSorted().reverse();
  const cut = {
    weights: new Float64Array(weights.length - 1 + pieces.length),
    seconds: new Float64Array(weights.length - 1 + pieces.length),
  };
  const weightOfPiece = (piece: number) => Math.max(1, Math.round(weights[file]! * pieces[piece]!));
  let [other, piece] = [0, 0];
  for (let i = 0; i < cut.weights.length; i++) {
    if (other === file) other++;
    const isPiece = piece < pieces.length && (other >= weights.length || weightOfPiece(piece) > weights[other]!);
    cut.weights[i] = isPiece ? weightOfPiece(piece) : weights[other]!;
    cut.seconds[i] = isPiece ? seconds[file]! * pieces[piece]! : seconds[other]!;
    if (isPiece) piece++;
    else other++;
  }
  return cut;
}
