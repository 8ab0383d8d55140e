import type { FileOutcome } from '../../../../src/protocol/file-outcome.js';
import { digestOfList } from '../../../../src/protocol/list-digest.js';
import { fileOfPiece } from '../../../../src/protocol/piece-path.js';
import { fileOf } from '../../../../src/protocol/test-case.js';

/** What a process of a node told of its checkout; null: nothing. */
export interface ToldCheckout {
  tree?: string;
  tree_doubt?: string;
  proof_keys?: string[];
  command_digest?: string;
}

export interface SentFile {
  path: string;
  time_execution: number;
  ran?: boolean;
  no_test?: boolean;
  outcome?: FileOutcome;
}

/** What was sent and answered in a CI run, in this order. */
export type Sent =
  /** A process of a node. `took`: it got a file, and can say how it ended. */
  | { is: 'begun'; node: number; at: number; checkout: ToldCheckout | null; list: readonly string[]; took: boolean }
  /** The node was refused, because it lists other test files. */
  | { is: 'refused' }
  /** The queue or split has this file or piece. */
  | { is: 'handed'; node: number; path: string }
  | { is: 'failed'; path: string }
  /** `isNamed`: the recording has the id of the CI run. */
  | { is: 'recorded'; node: number; isNamed: boolean; tells: boolean; files: readonly SentFile[] };

export interface Asked {
  tree: string;
  keys: readonly string[];
  list: readonly string[];
  since: number;
  flakyPasses: boolean;
}

/** A CI run as it was played. */
export interface PlayedCiRun {
  id: string;
  sent: readonly Sent[];
  /** Its queue may leave out what other CI runs proved. */
  leavesOut: boolean;
}

/**
 * Reports whether what was sent in a CI run justifies a proof, by the text of the guide. It knows nothing of the server, and does not ask whether the
 * gate calls the CI run complete.
 *
 * @param all CI runs of the project
 */
export function isJustified(played: PlayedCiRun, asked: Asked, all: readonly PlayedCiRun[]): boolean {
  if (!isOfTree(played, asked)) return false;
  const { sent, leavesOut } = played;
  const units = unitsOf(sent);
  const listed = new Set([...units].map(fileOfPiece));
  const leftOut = asked.list.filter(path => !listed.has(path));
  // Each other file is in the list, in one or all of its pieces.
  if (!isSame([...listed, ...leftOut], asked.list)) return false;
  if (leftOut.length > 0 && !leavesOut) return false;
  const others = all.filter(other => other !== played && isOfTree(other, asked));
  if (!leftOut.every(path => others.some(other => passedIn(other.sent, path)))) return false;
  return (leftOut.length > 0 || anyRan(sent)) && [...units].every(path => passed(path, sent, asked.flakyPasses));
}

/** Reports whether all nodes of a CI run ran on the tree, with the keys and the list. */
function isOfTree({ id, sent }: PlayedCiRun, { tree, keys, list, since }: Asked): boolean {
  const begun = sent.filter(one => one.is === 'begun');
  const recorded = sent.filter(one => one.is === 'recorded');
  // A longer id may be cut.
  if (id.length >= 200 || begun.length === 0 || begun[0]!.at <= since) return false;
  const isRight = (checkout: ToldCheckout | null) =>
    checkout?.tree === tree && checkout.tree_doubt === undefined && isSame(checkout.proof_keys ?? [], keys);
  if (!begun.every(({ checkout, took }) => !took || isRight(checkout))) return false;
  if (recorded.some(({ node, isNamed, files }) => isNamed && files.length > 0 && !begun.some(one => one.node === node && one.took)))
    return false;
  return !sent.some(({ is }) => is === 'refused') && digestOfList(begun[0]!.list) === digestOfList(list);
}

/** The files and pieces that were handed out. */
const unitsOf = (sent: readonly Sent[]) => new Set(sent.flatMap(one => (one.is === 'handed' ? one.path : [])));

const anyRan = (sent: readonly Sent[]) =>
  sent.some(one => one.is === 'recorded' && one.files.some(({ outcome, time_execution }) => outcome !== 'skipped' && time_execution > 0));

/** Reports whether a file passed, in all of its pieces that were handed out. */
function passedIn(sent: readonly Sent[], path: string): boolean {
  const units = [...unitsOf(sent)].filter(unit => fileOfPiece(unit) === path);
  return units.length > 0 && anyRan(sent) && units.every(unit => passed(unit, sent, false));
}

/** Reports whether a file or piece passed, and was skipped or failed nowhere that would contradict it. */
function passed(path: string, sent: readonly Sent[], flakyPasses: boolean): boolean {
  const outcomes: (FileOutcome | 'untold')[] = [];
  for (const one of sent) {
    if (one.is === 'failed' && isOf(one.path, path)) outcomes.push('failed');
    if (one.is !== 'recorded') continue;
    for (const file of one.files) {
      const { outcome: told = one.tells ? 'passed' : 'untold' } = file;
      // A mute proves nothing.
      const outcome = told === 'muted' ? 'failed' : told;
      if (outcome === 'failed' && isOf(file.path, path)) outcomes.push('failed');
      if (outcome === 'failed' || !one.isNamed || file.path !== path) continue;
      // It was scheduled, and nothing says that it ran.
      if (outcome !== 'untold' && file.time_execution === 0 && !file.ran) continue;
      outcomes.push(outcome);
    }
  }
  if (outcomes.length === 0 || outcomes.includes('untold')) return false;
  if (outcomes.every(outcome => outcome === 'passed' || outcome === 'skipped')) return true;
  return flakyPasses && ['passed', 'flaky'].includes(outcomes.at(-1)!);
}

/** Reports whether a path is the file or piece, a test case in it, or the file of the piece. */
const isOf = (path: string, unit: string) => path === unit || fileOf(path) === unit || path === fileOfPiece(unit);

const isSame = (a: readonly string[], b: readonly string[]) => digestOfList(a) === digestOfList(b);
