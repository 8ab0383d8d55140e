import { emptyBasis } from '../../../planning/estimating/basis.js';
import { estimate, pathOf, SPLIT_PERCENTILE } from '../../../planning/estimating/estimate.js';
import { toSeconds } from '../../../planning/weight.js';
import { suiteOf } from '../../suites/suite.js';
import type { Timeline, TimelineFiles } from '../timeline/timeline.js';
import { type Assumptions, assume, type Cut, type EstimatesOf } from './assumptions.js';
import { cutIntoParts, type FileTimes, inPlanningOrder, type NamedSuite, usualSeconds } from './file-times.js';
import { observe } from './observed.js';
import type { PlayedSuite } from './play.js';
import { type Baselines, baselinesOf } from './savings.js';
import { type Mode, mostUsefulNodes, play, type Scenario } from './scenario.js';
import { speedsIn } from './speeds.js';

/** What to change in a build that is played again; null: as it was. */
export interface Changes {
  mode: Mode | null;
  /** Null: see `usualEstimatesOf`. */
  estimates: EstimatesOf | null;
  /** Seconds. */
  startSpread: number | null;
  pullCost: number | null;
  /** Files of the timeline to cut into pieces. */
  cut: readonly string[];
}

/** What is known in addition to the timeline. */
export interface Knowledge {
  nodeTotal: number;
  /** Today's estimates by path; null: they are not needed. */
  now: { seconds: ReadonlyMap<string, number>; isGuessed: boolean } | null;
  /** The seconds of the test cases of files to cut; a file without known ones is missing. */
  cases: ReadonlyMap<string, readonly number[]>;
  /** See Scenario. */
  expectedPullCost: number;
}

/** A build that is ready to be played with other numbers of nodes. */
export interface WhatIf {
  scenario: Scenario;
  assumptions: Assumptions;
  baselines: Baselines;
  /** See `mostUsefulNodes`. */
  mostUseful: number;
  /** The longest files, longest first. */
  longest: LongFile[];
}

export interface LongFile {
  path: string;
  seconds: number;
  /** Its index in the suite. */
  file: number;
  /** The equal pieces into which it would be cut. */
  pieces: number;
}

/** Files that are played in pieces, to find the ones worth cutting. */
const LONGEST_FILES = 20;

export function whatIfOf(timeline: Timeline, changes: Changes, knowledge: Knowledge): WhatIf {
  const observed = observe(timeline);
  const estimates = changes.estimates ?? usualEstimatesOf(timeline);
  const { speeds, spread: speedSpread } = speedsIn(timeline, observed);
  const times = timesOf(timeline, usualSeconds(observed, speeds, withGuesses(timeline.files)), estimates, knowledge);
  const total = times.seconds.reduce((sum, seconds) => sum + seconds, 0);
  const share = total / knowledge.nodeTotal;
  const cuts = changes.cut.map(path => cut(times, path, share, knowledge.cases.get(path)));
  const named = inPlanningOrder(times);
  const scenario: Scenario = {
    mode: changes.mode ?? (timeline.kind === 'queue' ? 'queue' : 'split'),
    suite: named.suite,
    deviations: new Float64Array(),
    isGuessed: estimates === 'then' ? isMostlyGuessed(timeline.files) : estimates === 'now' && knowledge.now!.isGuessed,
    starts: observed.starts,
    startSpread: changes.startSpread,
    speeds,
    speedSpread,
    rate: observed.rate,
    pullCost: changes.pullCost ?? observed.pullCost,
    expectedPullCost: knowledge.expectedPullCost,
  };
  const unrecorded = observed.seconds.reduce((sum, time) => sum + Number(Number.isNaN(time)), 0);
  return {
    scenario,
    assumptions: assume(scenario, {
      estimates,
      wereGuesses: isMostlyGuessed(timeline.files),
      cuts,
      unrecorded,
      nodeIndexes: observed.lanes.map(({ node_index }) => node_index),
      isPullCostObserved: changes.pullCost === null,
    }),
    baselines: baselinesOf(timeline),
    mostUseful: mostUsefulNodes(scenario),
    longest: longestFiles(named, share),
  };
}

/** Those of the build, unless it had none or mostly guesses: the next build will know its times. */
export function usualEstimatesOf({ kind, files }: Timeline): EstimatesOf {
  return kind === 'recordings' || isMostlyGuessed(files) ? 'now' : 'then';
}

function isMostlyGuessed({ isGuess }: TimelineFiles): boolean {
  return isGuess.reduce((sum, each) => sum + each, 0) > isGuess.length / 2;
}

/** Returns the wall time with each file in pieces, in the order of the files. */
export function playCuts(scenario: Scenario, nodes: number, files: readonly Pick<LongFile, 'file' | 'pieces'>[]): number[] {
  return files.map(({ file, pieces }) => play(scenario, nodes, withFileCut(scenario.suite, file, pieces)).wall);
}

function timesOf({ files }: Timeline, seconds: Float64Array, estimates: EstimatesOf, { now }: Knowledge): FileTimes {
  const { paths } = files;
  const before = estimates === 'then' ? withGuesses(files) : files.estimates;
  const estimateOf = (file: number) => {
    if (estimates === 'now') return now!.seconds.get(paths[file]!)!;
    return estimates === 'exact' || Number.isNaN(before[file]) ? seconds[file]! : before[file]!;
  };
  return { paths: [...paths], estimates: Array.from(paths.keys(), estimateOf), seconds: [...seconds] };
}

/** The estimates of the plan. A split does not keep its guesses, so they are made again. */
function withGuesses({ paths, estimates, isGuess }: TimelineFiles): Float64Array {
  if (!isGuess.some((guessed, file) => guessed === 1 && Number.isNaN(estimates[file]))) return estimates;
  const planned = new Map(
    paths.flatMap((path, file) => (isGuess[file] === 1 || !Number.isNaN(estimates[file]) ? [[path, estimates[file]!]] : [])),
  );
  const list = suiteOf([...planned.keys()]);
  const seconds = Float64Array.from(list.strings(), path => planned.get(path)!);
  const guessed = estimate(list, { seconds, files: new Map(), basis: emptyBasis(list.length) }, SPLIT_PERCENTILE);
  const weights = new Map(Array.from(guessed.weights, (weight, i) => [pathOf(guessed, i), weight]));
  return estimates.map((each, file) => (isGuess[file] === 1 && Number.isNaN(each) ? toSeconds(weights.get(paths[file]!)!) : each));
}

function cut(times: FileTimes, path: string, share: number, cases: readonly number[] | undefined): Cut {
  const file = times.paths.indexOf(path);
  const parts = cases ? partsOfCases(cases) : equalParts(times.seconds[file]!, share);
  cutIntoParts(times, file, parts);
  return { path, pieces: parts.length, isMeasured: cases !== undefined };
}

/** @param share the seconds of an even share */
function longestFiles({ suite, paths }: NamedSuite, share: number): LongFile[] {
  const files = [...paths.keys()].sort((a, b) => suite.seconds[b]! - suite.seconds[a]!).slice(0, LONGEST_FILES);
  return files.map(file => {
    const seconds = suite.seconds[file]!;
    return { path: paths[file]!, seconds, file, pieces: equalParts(seconds, share).length };
  });
}

/** Equal parts of at most an even share, and at least two. @param share seconds */
export function equalParts(seconds: number, share: number): Float64Array {
  const pieces = share > 0 ? Math.max(2, Math.ceil(seconds / share)) : 2;
  return new Float64Array(pieces).fill(1 / pieces);
}

/** The parts that the test cases of a file have in it. @param cases their seconds, at least one */
export function partsOfCases(cases: readonly number[]): Float64Array {
  const sum = cases.reduce((total, seconds) => total + seconds, 0);
  return Float64Array.from(cases, seconds => (sum > 0 ? seconds / sum : 1 / cases.length));
}

/** Returns the suite with one file in equal pieces. @param file its index */
export function withFileCut({ weights, seconds }: PlayedSuite, file: number, pieces: number): PlayedSuite {
  const weight = Math.max(1, Math.round(weights[file]! / pieces));
  const shorter = weights.findIndex(other => other < weight);
  const place = shorter === -1 ? weights.length : shorter;
  const withPieces = (values: Float64Array, piece: number) => {
    const result = new Float64Array(values.length - 1 + pieces);
    result.set(values.subarray(0, file));
    result.set(values.subarray(file + 1, place), file);
    result.fill(piece, place - 1, place - 1 + pieces);
    result.set(values.subarray(place), place - 1 + pieces);
    return result;
  };
  return { weights: withPieces(weights, weight), seconds: withPieces(seconds, seconds[file]! / pieces) };
}
