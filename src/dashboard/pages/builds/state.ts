import type { BuildLine } from '../../../protocol/answers/trends.js';
import { branchInSentence, commitOf } from '../../text/in-sentence.js';

/** Shapes of the states. */
export const SHAPES: Record<BuildLine['state'], string> = {
  running: '◌',
  cancelled: '⊘',
  missing: '▲',
  failed: '✕',
  complete: '✓',
  recorded: '○',
  unplanned: '?',
  partial: '?',
  unknown: '·',
};

/** A build by its branch and commit: `main 4d5e6f7a`. */
export function buildName({ branch, commit_hash }: Pick<BuildLine, 'branch' | 'commit_hash'>): string {
  return `${branchInSentence(branch)} ${commitOf(commit_hash)}`;
}
