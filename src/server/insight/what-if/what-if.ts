import type { Assumptions } from '../../../protocol/answers/what-if.js';
import { limits } from '../../../protocol/limits.js';
import { fileOfPiece, pieceOf } from '../../../protocol/piece-path.js';
import type { PriceSettings } from '../../../protocol/price.js';
import { cuttable } from '../../engine/pieces/cuttable.js';
import type { KnownCases } from '../../engine/pieces/known-cases.js';
import type { Mode } from '../../planning/estimating/estimate.js';
import { toSeconds, toWeight } from '../../planning/weight.js';
import { type Timeline, wasMostlyGuessed } from '../timeline/timeline.js';
import { assume, type Cut, type EstimatesOf } from './assumptions.js';
import { equalParts, type FileCut, partsOfCases, withFilesCut } from './files-cut.js';
import { type Observed, observe, showsPullCost } from './observed.js';
import { cutsFor, mostUsefulNodes, play, type Scenario, withCost } from './scenario.js';
import { speedsIn } from './speeds.js';

/** Changes of a build that is played again; null: as it was. */
export interface Changes {
  mode: Mode | null;
  /** Null: see `usualEstimatesOf`. */
  estimates: EstimatesOf | null;
  /** Seconds. */
  startSpread: number | null;
  pullCost: number | null;
  /** Seconds of the job before a node starts; null: those of the settings of the project. */
  setup: number | null;
  /** True if long files run in pieces, which only a queue has; null: as in the build, unless files are to be cut. */
  inPieces: boolean | null;
  /** Files of the timeline to cut by hand. */
  cut: readonly string[];
}

/** A build that is played so shows its own cost of a pull: the configured one plays no part. */
export const AS_IT_WAS: Changes = { mode: null, estimates: null, startSpread: null, pullCost: null, setup: null, inPieces: null, cut: [] };

/** Facts that are known in addition to the timeline. */
export interface Knowledge {
  nodeTotal: number;
  /** Today's estimates by path; null: they are not needed. */
  now: { seconds: ReadonlyMap<string, number>; isGuessed: boolean } | null;
  /** Files of the timeline that might be worth cutting. */
  candidates: readonly string[];
  /** The seconds of the test cases of these and of the files to cut; a file whose test cases were never measured is missing. */
  cases: ReadonlyMap<string, readonly number[]>;
  /** Known cases of files that a queue may cut, by path. */
  pieces: ReadonlyMap<string, KnownCases>;
  /** What a job costs in the project. */
  settings: PriceSettings;
  /** The configured cost of a pull, as a weight, for a split that is played as a queue. */
  expectedPullCost: number;
}

/** A build that is ready to be played with other numbers of nodes. */
export interface WhatIf {
  scenario: Scenario;
  /** The scenario with long files in pieces, or if it has pieces, with whole files; null: no file can run in pieces. */
  other: Scenario | null;
  /** Number of files that run in pieces on as many nodes as the build had, here or in `other`. */
  filesInPieces: number;
  assumptions: Assumptions;
  /** See `mostUsefulNodes`. */
  mostUseful: number;
  /** See WhatIfAnswer. */
  longest: { path: string; seconds: number } | null;
  /** In the order of `Knowledge.candidates`, without files that are cut. */
  candidates: Candidate[];
}

/** A file that might be cut. */
export interface Candidate extends FileCut {
  path: string;
  seconds: number;
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
  const mode = changes.mode ?? modeOf(timeline);
  const hasPieces = hadPieces(timeline) && changes.cut.length === 0;
  const mayBeInPieces = mode === 'queue' && (changes.inPieces ?? hasPieces);
  const files = withEstimates(joined(filesOf(timeline, observed, speeds), mayBeInPieces, knowledge.pieces), estimates, knowledge.now);
  const share = files.reduce((sum, { seconds }) => sum + seconds, 0) / knowledge.nodeTotal;
  const partsOfPath = (path: string) => partsOf(files.find(file => file.path === path)!, share, knowledge.cases.get(path));
  const parts = new Map(changes.cut.map(path => [path, partsOfPath(path)]));
  const cuts = [...parts].map(([path, own]): Cut => ({ path, pieces: own.length, is_measured: knowledge.cases.has(path) }));
  const played = inPlanningOrder(files.flatMap(file => piecesOf(file, parts.get(file.path))));
  const cuttableFiles = played.flatMap(({ path }, i) => (parts.has(path) ? [] : (cuttable(knowledge.pieces.get(path) ?? null, i) ?? [])));
  const areInPieces = mayBeInPieces && cuttableFiles.length > 0;
  const isKnown = showsPullCost(timeline, mode);
  const pullCost = changes.pullCost ?? (isKnown ? observed.pullCost : toSeconds(knowledge.expectedPullCost));
  // Later builds begin with what was learned.
  const seen = estimates === 'then' ? timeline.expectedCost : null;
  const scenario: Scenario = {
    mode,
    suite: { weights: Float64Array.from(played, weightOf), seconds: Float64Array.from(played, ({ seconds }) => seconds) },
    cuttable: areInPieces ? cuttableFiles : [],
    deviations: new Float64Array(),
    isGuessed: estimates === 'then' ? wasMostlyGuessed(timeline) : estimates === 'now' && knowledge.now!.isGuessed,
    starts: observed.starts,
    startSpread: changes.startSpread,
    speeds,
    speedSpread,
    rate: observed.rate,
    hidden: observed.hidden,
    pullCost,
    settings: { ...knowledge.settings, setup: changes.setup ?? knowledge.settings.setup },
    expected: { hidden: seen?.hidden ?? observed.hidden, pullCost: changes.pullCost ?? seen?.pull_cost ?? pullCost },
  };
  const whole = { ...scenario, cuttable: [] };
  const pieced = { ...scenario, cuttable: cuttableFiles };
  const unrecorded = observed.seconds.reduce((sum, time) => sum + Number(Number.isNaN(time)), 0);
  return {
    scenario,
    other: mode === 'split' || cuttableFiles.length === 0 ? null : areInPieces ? whole : pieced,
    filesInPieces: cutsFor(pieced, knowledge.nodeTotal).length,
    assumptions: assume(scenario, {
      estimates,
      wereGuesses: wasMostlyGuessed(timeline),
      areInPieces,
      fixedPieces: played.filter(({ path }) => pieceOf(path) !== null).length,
      cuts,
      unrecorded,
      nodeIndexes: observed.lanes.map(({ node_index }) => node_index),
      isPullCostObserved: changes.pullCost === null && isKnown,
    }),
    mostUseful: mostUsefulNodes(scenario),
    longest: longestOf(played, scenario),
    candidates: knowledge.candidates
      .filter(path => !parts.has(path))
      .flatMap((path): Candidate[] => {
        const file = played.findIndex(each => each.path === path);
        return file < 0 ? [] : [{ path, seconds: played[file]!.seconds, file, parts: partsOfPath(path) }];
      }),
  };
}

/** The estimates of the build, unless it had none or mostly guesses. The next build has better ones then, from the recorded times. */
export function usualEstimatesOf(timeline: Timeline): EstimatesOf {
  return timeline.kind === 'recordings' || wasMostlyGuessed(timeline) ? 'now' : 'then';
}

/** Returns the wall time with each of these files cut, beside those that run in pieces, in the order of the files. */
export function playCuts(scenario: Scenario, nodes: number, files: readonly FileCut[]): number[] {
  return files.map(cut => play(scenario, nodes, withCost(scenario, withFilesCut(scenario.suite, [...cutsFor(scenario, nodes), cut]))).wall);
}

/** A file that was recorded takes its time at usual speed; one that was not, its estimate. It is planned with the estimate of that build. */
function filesOf({ paths, estimates: before }: Timeline, { seconds: recorded, nodes }: Observed, speeds: Float64Array): PlayedFile[] {
  return paths.map((path, file) => {
    const time = recorded[file]!;
    const seconds = Number.isNaN(time) ? (before[file] ?? 0) : time * speeds[nodes[file]!]!;
    return { path, estimate: before[file] ?? seconds, seconds };
  });
}

function withEstimates(files: PlayedFile[], estimates: EstimatesOf, now: Knowledge['now']): PlayedFile[] {
  if (estimates === 'then') return files;
  return files.map(file => ({ ...file, estimate: (estimates === 'now' ? now!.seconds.get(file.path) : null) ?? file.seconds }));
}

/** The mode of a build. Recordings alone are played as a split. */
export const modeOf = ({ kind }: Pick<Timeline, 'kind'>): Mode => (kind === 'queue' ? 'queue' : 'split');

/** Reports whether files of a build ran in pieces. */
export function hadPieces({ paths }: Pick<Timeline, 'paths'>): boolean {
  return paths.some(path => pieceOf(path) !== null);
}

/** Returns whole files in place of their pieces. What a file takes besides its cases, which each piece took, counts once. */
function joined(files: readonly PlayedFile[], mayBeInPieces: boolean, known: Knowledge['pieces']): PlayedFile[] {
  const wholes = new Map<string, PlayedFile>();
  for (const { path, estimate, seconds } of files) {
    const file = fileOfPiece(path);
    // Pieces of a file whose cases are not known stay as they were.
    const name = mayBeInPieces && !known.has(file) ? path : file;
    const before = wholes.get(name);
    const own = known.get(file)?.own ?? 0;
    if (!before) wholes.set(name, { path: name, estimate, seconds });
    else
      wholes.set(name, {
        path: name,
        estimate: before.estimate + Math.max(0, estimate - own),
        seconds: before.seconds + Math.max(0, seconds - own),
      });
  }
  return [...wholes.values()];
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

function longestOf(files: readonly PlayedFile[], scenario: Scenario): WhatIf['longest'] {
  const largestParts = new Map(cutsFor(scenario, limits.playedNodes).map(({ file, parts }) => [file, Math.max(...parts)]));
  return files.reduce<WhatIf['longest']>((most, { path, seconds }, file) => {
    const longest = seconds * (largestParts.get(file) ?? 1);
    return most && most.seconds >= longest ? most : { path, seconds: longest };
  }, null);
}
