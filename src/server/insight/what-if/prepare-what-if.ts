import { wholeMilliseconds } from '../../../base/rounding.js';
import type { BuildHead } from '../../../protocol/answers/build-head.js';
import type { Variant, WhatIfAnswer } from '../../../protocol/answers/what-if.js';
import { hasEndedComplete } from '../../../protocol/build-state.js';
import { limits } from '../../../protocol/limits.js';
import { fileOfPiece, filesAmong, pieceOf } from '../../../protocol/piece-path.js';
import { settingsOf } from '../../engine/access.js';
import { newestBuild } from '../../engine/builds.js';
import { mayBeCut } from '../../engine/pieces/cuttable.js';
import { type KnownCases, readKnownCases } from '../../engine/pieces/known-cases.js';
import type { Build } from '../../engine/ports/builds.js';
import type { Millis, Store } from '../../engine/ports/store.js';
import { Refusal } from '../../engine/refusal.js';
import { TEST_CASES_PER_REQUEST } from '../../engine/suites/plan-suite.js';
import { suiteOf } from '../../engine/suites/suite.js';
import { FILES_TO_CUT } from '../../planning/cutting/cut.js';
import { estimate, isMostlyGuessed, pathOf } from '../../planning/estimating/estimate.js';
import { toSeconds } from '../../planning/weight.js';
import { fileOutcomes } from '../minutes/file-outcomes.js';
import { buildHead, findSubject, type Subject } from '../subject.js';
import { countedNodes } from '../timeline/counted-nodes.js';
import { readTimeline } from '../timeline/read-timeline.js';
import type { Timeline } from '../timeline/timeline.js';
import { baselinesOf } from './savings.js';
import { usefulNodesOf, variantsWith } from './scenario.js';
import { type Candidate, type Changes, hadPieces, type Knowledge, modeOf, usualEstimatesOf, type WhatIf, whatIfOf } from './what-if.js';

/** A build with another number of nodes is shown beside a played one if it was created within this time of it. */
const MEASURED_BUILD_MILLISECONDS = 1_209_600_000;

/** Options to play a build again. */
export interface Playing {
  changes: Changes;
  /** See Knowledge; null: the files that took longest. */
  candidates: readonly string[] | null;
  /** See Knowledge. */
  expectedPullCost: number;
}

/** A build to play again, and the options. */
export interface WhatIfSubject extends Playing {
  project: number;
  /** The id of a build or of a CI run. */
  id: string;
  /** Another CI run of the build, see `findSubject`. */
  ciRun: string | undefined;
  /** Null: some that show where more nodes are of no use. */
  nodes: readonly number[] | null;
  now: Millis;
}

/** A build that is ready to be played. */
export interface PreparedWhatIf {
  head: BuildHead;
  whatIf: WhatIf;
  baselines: WhatIfAnswer['baselines'];
  /** The numbers of nodes to answer, ascending, and those that decide which number is useful, whatever is asked for. */
  nodes: number[];
  deciding: number[];
  /** Wall times in seconds of real builds, by number of nodes. */
  measured: Map<number, number>;
}

/** Reads a build, and what is needed to play it. It may take long. Throws a 404 or a 422. */
export async function prepareWhatIf(store: Store, asked: WhatIfSubject): Promise<PreparedWhatIf> {
  const { project, changes } = asked;
  const subject = await findSubject(store, project, asked.id, asked.ciRun);
  const timeline = await readTimeline(store, subject, asked.now);
  const head = buildHead(subject, timeline);
  const { node_count: today } = head;
  if (today > limits.playedNodes)
    throw new Refusal(`cannot play a build of ${today} nodes again: the limit is ${limits.playedNodes} nodes`);
  const unknown = changes.cut.find(path => !timeline.paths.some(listed => fileOfPiece(listed) === path));
  if (unknown !== undefined) throw new Refusal(`names a file that the build does not have: ${unknown}`, 'parameter', 'cut');
  const whatIf = await whatIfOfRun(store, subject, timeline, asked);
  const usual = usualNodes(today, whatIf.mostUseful);
  const nodes = [...(asked.nodes ?? usual)];
  const deciding = decidingNodes(usual.at(-1)!);
  // Builds of another mode took another time.
  const isItsMode = whatIf.scenario.mode === modeOf(timeline);
  const measured = isItsMode
    ? await measuredWalls(store, subject, { today, nodes, files: filesAmong(timeline.paths) })
    : new Map<number, number>();
  if (isItsMode && hasEndedComplete(timeline.state)) measured.set(today, timeline.wall);
  return { head, whatIf, baselines: baselinesOf(timeline), nodes, deciding, measured };
}

/** @param timeline with at most `limits.playedNodes` nodes to count */
export async function whatIfOfRun(store: Store, subject: Subject, timeline: Timeline, playing: Playing): Promise<WhatIf> {
  const knowledge = await knowledgeFor(store, subject, timeline, playing);
  return whatIfOf(timeline, playing.changes, { ...knowledge, nodeTotal: countedNodes(timeline).length });
}

/** Files that are played as if they were cut, to find those worth cutting by hand. */
const CANDIDATES = 20;
const MOST_CUTS = 10;
/** A cut saves something when the build ends sooner by this part of its wall time. */
const MIN_SAVING = 0.005;

/**
 * The files whose cut saves time on as many nodes as the build had, and on one more: on one number alone it may be the luck of one plan.
 *
 * @param variants with these two numbers of nodes
 * @param playCuts returns the wall times with each of these files in pieces
 */
export async function worthCutting(
  { head, whatIf }: PreparedWhatIf,
  variants: readonly Variant[],
  playCuts: (nodes: number, files: readonly Candidate[]) => Promise<number[]>,
): Promise<WhatIfAnswer['worth_cutting']> {
  let files = whatIf.assumptions.in_pieces ? [] : whatIf.candidates.map(file => ({ ...file, saves: 0 }));
  for (const nodes of [head.node_count + 1, head.node_count]) {
    const { wall } = variants.find(variant => variant.nodes === nodes)!;
    const walls = await playCuts(nodes, files);
    files = files.map((file, i) => ({ ...file, saves: wall - walls[i]! })).filter(({ saves }) => saves > MIN_SAVING * wall);
  }
  return files
    .sort((a, b) => b.saves - a.saves)
    .slice(0, MOST_CUTS)
    .map(({ path, seconds, parts, saves }) => {
      return { path, seconds: wholeMilliseconds(seconds), pieces: parts.length, saves: wholeMilliseconds(saves) };
    });
}

/** @param otherwise `WhatIf.other` with as many nodes as the build had; undefined: there is none */
export function piecesGain(
  { head, whatIf: { filesInPieces, assumptions } }: PreparedWhatIf,
  variants: readonly Variant[],
  otherwise: Variant | undefined,
): WhatIfAnswer['pieces'] {
  if (!otherwise) return null;
  const { wall } = variants.find(({ nodes }) => nodes === head.node_count)!;
  return { files: filesInPieces, saves: wholeMilliseconds(assumptions.in_pieces ? otherwise.wall - wall : wall - otherwise.wall) };
}

/** @param variants ascending, with the numbers of nodes to answer and the deciding ones */
export function whatIfAnswer(
  { head, whatIf, baselines, nodes, deciding, measured }: PreparedWhatIf,
  variants: readonly Variant[],
  { worth_cutting, pieces }: Pick<WhatIfAnswer, 'worth_cutting' | 'pieces'>,
): WhatIfAnswer {
  const { assumptions, mostUseful, longest, scenario } = whatIf;
  return {
    ...head,
    assumptions,
    variants: variantsWith(variants, nodes).map(variant => ({ ...variant, measured: measured.get(variant.nodes) ?? null })),
    useful_nodes: usefulNodesOf(variantsWith(variants, deciding), mostUseful, scenario.settings.setup),
    longest: longest && { ...longest, seconds: wholeMilliseconds(longest.seconds) },
    baselines,
    pieces,
    worth_cutting,
  };
}

/** Numbers of nodes up to twice today's, or as many as are useful. */
export function usualNodes(today: number, mostUseful: number): number[] {
  const { playedVariants: count, playedNodes } = limits;
  const most = Math.min(playedNodes, Math.max(16, 2 * today, Math.min(mostUseful + 2, count)));
  if (most <= count) return Array.from({ length: most }, (_, i) => i + 1);
  const spread = Array.from({ length: count - 1 }, (_, i) => Math.round(1 + (i * (most - 1)) / (count - 2)));
  return [...new Set([...spread, today])].sort((a, b) => a - b);
}

/** Each is a fifth more than the one before: with all numbers, a plan would take a second longer to answer one of them. */
export function decidingNodes(most: number): number[] {
  const nodes: number[] = [];
  for (let next = 1; next < most; next = Math.max(next + 1, Math.round(1.2 * next))) nodes.push(next);
  return [...nodes, most];
}

async function knowledgeFor(
  store: Store,
  { project, build: { branch } }: Subject,
  timeline: Timeline,
  { changes, expectedPullCost, ...asked }: Playing,
): Promise<Omit<Knowledge, 'nodeTotal'>> {
  const { timings } = store;
  const isPage = asked.candidates === null;
  const mayBeInPieces = isPage || changes.inPieces || hadPieces(timeline);
  const slowest = mayBeInPieces ? fileOutcomes(timeline, FILES_TO_CUT).slowest.map(({ path }) => fileOfPiece(path)) : [];
  // Pieces are shorter than the files that they are of.
  const cut = timeline.paths.flatMap(path => pieceOf(path)?.file ?? []);
  const pieces = await knownPieces(store, project, [...new Set([...cut, ...slowest])].slice(0, FILES_TO_CUT));
  const candidates = asked.candidates ?? [...new Set(slowest)].slice(0, CANDIDATES);
  const cases = new Map<string, readonly number[]>();
  for (const path of [...changes.cut, ...candidates]) {
    const times = await timings.cases(project, branch, path);
    if (times.length > 1) cases.set(path, times);
  }
  const { paths } = timeline;
  const known = { candidates, cases, pieces, settings: await settingsOf(store.access, project), expectedPullCost };
  if ((changes.estimates ?? usualEstimatesOf(timeline)) !== 'now') return { now: null, ...known };
  const list = suiteOf([...new Set(paths.map(fileOfPiece))]);
  const measured = await timings.estimates(project, branch, list, TEST_CASES_PER_REQUEST);
  const today = estimate(list, measured, changes.mode ?? modeOf(timeline));
  const seconds = new Map(Array.from(today.weights, (weight, i) => [pathOf(today, i), toSeconds(weight)]));
  // The estimate of a file that runs in pieces rests on older runs of the whole file.
  for (const [path, known] of pieces)
    if (known.isCut)
      seconds.set(
        path,
        known.cases.reduce((sum, one) => sum + one.seconds, known.own),
      );
  return { now: { seconds, isGuessed: isMostlyGuessed(today.seconds) }, ...known };
}

/** Reads the known cases of the files, of those given, that a queue may cut. */
export async function knownPieces(
  { cases }: Pick<Store, 'cases'>,
  project: number,
  files: readonly string[],
): Promise<Map<string, KnownCases>> {
  const found = new Map<string, KnownCases>();
  for await (const { place, known } of readKnownCases(cases, project, files)) if (mayBeCut(known)) found.set(files[place]!, known);
  return found;
}

/** The wall times of the newest builds of the branch with these numbers of nodes, if all of these came, they are about as old, and have half of the files. */
async function measuredWalls(
  { builds, summaries }: Store,
  { project, build, recorded }: Subject,
  { today, nodes, files }: { today: number; nodes: readonly number[]; files: number },
) {
  const walls = new Map<number, number>();
  if (!recorded) return walls;
  for (const node_total of nodes) {
    if (node_total === today) continue;
    const other = await newestBuild(builds, project, { branch: build.branch, node_total });
    const summary = other && isNear(other, recorded) ? await summaries.get(other.number) : null;
    const hadAll = summary && summary.node_seconds > (node_total - 0.5) * summary.line.wall;
    if (hadAll && hasEndedComplete(summary.state) && 2 * summary.line.files >= files) walls.set(node_total, summary.line.wall);
  }
  return walls;
}

function isNear(a: Build, b: Build): boolean {
  return Math.abs(a.created_at - b.created_at) <= MEASURED_BUILD_MILLISECONDS;
}
