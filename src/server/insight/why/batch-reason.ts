import { durationText } from '../../../base/duration.js';
import { agree } from '../../../base/plural.js';
import type { Decision } from '../../../protocol/answers/why.js';
import type { PieceName } from '../../../protocol/piece-path.js';
import type { EndedLease } from '../../engine/queue/batch.js';
import { isRestSmall, SHARE_PER_BATCH } from '../../planning/batching/batch-weight.js';
import type { Forecast } from '../../planning/forecasting/forecast.js';

/** Files of a batch that another batch had before, and that went back to the queue when the lease of that one ended. */
export interface ReturnedFiles {
  node_index: number;
  lease: EndedLease;
  files: number;
}

/** Facts for the reason of a batch. Durations are seconds. */
export interface BatchFacts {
  node_index: number;
  nodeTotal: number;
  /** Some of them never came. */
  wereFewer: boolean;
  /** Null: a replay. */
  decision: Decision | null;
  /** Most files of the queue were never measured. */
  isGuessed: boolean;
  /** The estimates of its files together. */
  weight: number;
  files: number;
  /** Files whose failed test cases alone run again. */
  filesWithCases: number;
  /** Its files that are pieces of files. */
  pieces: readonly PieceName[];
  /** Null: it has files that its node did not have before. `copied`: those of the CI run that this one repeats. */
  replay: 'unfinished' | 'own' | 'copied' | null;
  /** The nodes on which its file failed, if it is a retry; null: it is none. */
  failedOn: readonly number[] | null;
  returned: readonly ReturnedFiles[];
  /** Numbers of its files that go first, by why they do; null: it has no such files. */
  first: { failed: number; unmeasured: number } | null;
}

/** Why a node got this batch, in a few sentences. */
export function batchReason(facts: BatchFacts): string {
  const sentences = reasonsOf(facts);
  return [...sentences, ...facts.returned.slice(0, MAX_RETURNS).map(returnReason), ...caseReason(facts), ...pieceReason(facts)].join(' ');
}

function reasonsOf(facts: BatchFacts): string[] {
  const { node_index, replay, failedOn, decision, first } = facts;
  if (replay) return [replayReason(facts, replay)];
  if (failedOn)
    return [`Node ${node_index} retried a file that had failed on ${agree(failedOn.length, 'node', 'nodes')} ${failedOn.join(', ')}.`];
  return first ? [firstReason(facts, first, decision!)] : sizeReasons(facts, decision!);
}

/** Nodes that a reason names at most. */
const MAX_RETURNS = 3;

function replayReason({ node_index, files }: BatchFacts, replay: 'unfinished' | 'own' | 'copied'): string {
  const node = `Node ${node_index}`;
  const them = filesText(files);
  if (replay === 'copied') return `${node} got the ${them} that it had in the CI run that this one repeats.`;
  if (replay === 'own') return `${node} was retried, and a retry gets all files that the node had: ${them}.`;
  return `${node} restarted, and got the ${them} again that it had not reported as run, or that failed.`;
}

function firstReason({ node_index }: BatchFacts, { failed, unmeasured }: NonNullable<BatchFacts['first']>, { target }: Decision): string {
  const why = [
    ...(failed > 0 ? [`${filesText(failed)} failed in the newest run of the branch`] : []),
    ...(unmeasured > 0 ? [`${filesText(unmeasured)} ${agree(unmeasured, 'was', 'were')} never measured`] : []),
  ];
  return `Node ${node_index} got files that go first: ${why.join(', and ')}. Such a batch has one file, or up to ${durationText(target)} of files, so that results come early.`;
}

function filesText(files: number): string {
  return files === 1 ? 'one file' : `${files} files`;
}

function sizeReasons(facts: BatchFacts, decision: Decision): string[] {
  const { node_index, nodeTotal, wereFewer, files, weight } = facts;
  const { remaining, finish_in, slowdown, hidden, target } = decision;
  const expected = slowdown * weight + hidden * files;
  if (nodeTotal === 1) return [`Node ${node_index} is the only node, so it got all that was left: ${durationText(remaining)} of work.`];
  const sentences = [
    `${durationText(remaining)} of work was left for ${wereFewer ? 'up to ' : ''}${nodeTotal} nodes,${paceText(decision)} so all would finish in ${durationText(finish_in)}.`,
    `${shareReason(facts, decision)}.`,
  ];
  if (remaining - expected < 0.002 * remaining) sentences.push(files === 1 ? 'It was the last file.' : 'These files were the last ones.');
  else if (files === 1 && expected > 1.05 * target)
    sentences.push(`Its one file is longer than that, ${durationText(expected)}: a batch has at least one file.`);
  return sentences;
}

/** Says how files differed from their estimates. */
function paceText({ slowdown, hidden }: Decision): string {
  const isSlow = !isUsual(slowdown);
  if (hidden < LEAST_HIDDEN) return isSlow ? ` and files took ${ratioText(slowdown)} times their estimates until then,` : '';
  const besides = `each file was expected to take ${durationText(hidden)} besides its tests`;
  return isSlow ? ` files took ${ratioText(slowdown)} times their estimates and ${besides} until then,` : ` and ${besides} until then,`;
}

/** Seconds of hidden time that are worth a word. */
const LEAST_HIDDEN = 0.05;

function shareReason({ node_index, isGuessed }: BatchFacts, decision: Decision): string {
  const { speed, share, target, pull_cost } = decision;
  const pace = isUsual(speed) ? '' : `runs at ${ratioText(speed)} of the usual speed and `;
  const would = `Node ${node_index} ${pace}would do ${durationText(share)} of that work`;
  const part = target / share;
  if (isGuessed && part < WHOLE)
    return `${would}; it got ${durationText(target)} of it, because most files were never measured: later batches can correct the guesses, but each costs a pull of ${durationText(pull_cost)}`;
  if (part < WHOLE) {
    const purpose =
      part < SHARE_PER_BATCH - ROUNDING ? 'so that nodes that have yet to come find work' : 'so that later batches can correct errors';
    return `${would}; it got ${ratioText(part)} of its share, ${durationText(target)}, ${purpose}`;
  }
  const why =
    isGuessed || isRestSmall(share - ROUNDING, pull_cost)
      ? `another pull would take ${durationText(pull_cost)}, more than it could gain`
      : `it had enough batches before to correct errors`;
  return `${would}; it got all of its share, because ${why}`;
}

/** From this part of a share on, the batch is the whole share. */
const WHOLE = 0.99;
/** Decisions are kept in whole milliseconds. */
const ROUNDING = 0.01;

function returnReason({ node_index, lease, files }: ReturnedFiles): string {
  const had = files === 1 ? 'One file was' : `${files} files were`;
  const why = {
    expired: 'was silent for too long',
    returned: 'was silent for too long, and came back later',
    restarted: 'restarted',
    cancelled: 'was cancelled',
    closed: 'ended',
  };
  return `${had} with node ${node_index} before, which ${why[lease]}.`;
}

function caseReason({ filesWithCases }: BatchFacts): string[] {
  if (filesWithCases === 0) return [];
  return [
    filesWithCases === 1 ? 'Of one file only the failed test cases ran.' : `Of ${filesWithCases} files only the failed test cases ran.`,
  ];
}

/** Pieces that a reason names at most. */
const MAX_PIECES = 3;

function pieceReason({ pieces }: BatchFacts): string[] {
  if (pieces.length === 0) return [];
  const named = pieces.slice(0, MAX_PIECES).map(({ file, number, count }) => `piece ${number} of ${count} of ${file}`);
  const more = pieces.length > MAX_PIECES ? `, and ${pieces.length - MAX_PIECES} more` : '';
  const files = new Set(pieces.map(({ file }) => file)).size;
  const why = files === 1 ? 'the file, because it takes' : 'these files, because each takes';
  return [`It has ${named.join(', ')}${more}: the queue cut ${why} more than half of an even share of the work.`];
}

function isUsual(ratio: number): boolean {
  return Math.abs(ratio - 1) < 0.02;
}

function ratioText(ratio: number): string {
  return String(Number(ratio.toFixed(2)));
}

/** Facts for the reason of a part of a split. Durations are seconds. */
export interface PartFacts {
  node_index: number;
  nodeTotal: number;
  files: number;
  /** The estimates of its files together. */
  weight: number;
  /** The mean of all nodes. */
  mean: number;
  /** The most of a node, and the least that the node with most could have in any split; null: unknown. */
  forecast: Pick<Forecast, 'makespan' | 'lower_bound'> | null;
  /** The split was made for an earlier CI run of the build. */
  isReused: boolean;
}

/** Why a node got this part of a split, in a few sentences. */
export function partReason({ node_index, nodeTotal, files, weight, mean, forecast, isReused }: PartFacts): string {
  const sentences = [nodeTotal === 1 ? `Node ${node_index} is the only node, so it got all files.` : METHOD];
  if (nodeTotal > 1) {
    const work = files === 0 ? 'got no files' : `got ${durationText(weight)} of work`;
    sentences.push(`Node ${node_index} ${work}; the mean of the ${nodeTotal} nodes is ${durationText(mean)}.`);
    if (forecast)
      sentences.push(
        `The node with the most work has ${durationText(forecast.makespan)}; in no split of whole files could it have less than ${durationText(forecast.lower_bound)}.`,
      );
  }
  if (isReused) sentences.push('The split was made for an earlier CI run of this build, and later ones get the same.');
  return sentences.join(' ');
}

const METHOD =
  'A split gives each file, the longest first, to the node with the least work, and then moves files between nodes to even them out.';
