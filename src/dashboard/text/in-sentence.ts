import { NAME_CHARACTERS, shortened } from '../../base/shortened.js';
import { branchText, visible } from './path-text.js';

/** A path, as it stands in a sentence: a long one without its first folders, `…/cart/index.test.ts`, but with those that tell it from the others. */
export function pathInSentence(path: string, others: readonly string[] = []): string {
  const ends = path.split('/').map((_, i, parts) => parts.slice(i).join('/'));
  const isOfOther = (end: string) => others.some(other => other !== path && other.endsWith(`/${end}`));
  const end = ends.findLast((end, i) => i === 0 || (ends[i - 1]!.length > NAME_CHARACTERS - 2 && !isOfOther(end)))!;
  return inSentence(end === path ? path : `…/${end}`);
}

/** A branch as people call it, as it stands in a sentence. */
export const branchInSentence = (branch: string) => inSentence(branchText(branch));

/** Text that somebody else chose, as it stands in a sentence: not too long, and without an effect on the words around it. */
export function inSentence(text: string): string {
  const short = shortened(visible(text), NAME_CHARACTERS);
  // An isolate keeps text that is read from right to left where it is.
  return /^[ -~…]*$/.test(short) ? short : `\u2068${short}\u2069`;
}

/** A commit hash, as it stands in a sentence or a cell. It is text that a client sent. */
export function commitOf(hash: string): string {
  return inSentence([...visible(hash.slice(0, 32))].slice(0, 8).join(''));
}
