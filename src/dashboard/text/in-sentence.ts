import { NAME_CHARACTERS, shortened } from '../../base/shortened.js';
import { visible } from './path-text.js';

/** The last part of a path, as it stands in a sentence: `checkout_spec.rb`. What cannot be seen is written out. */
export function nameOf(path: string): string {
  return inSentence(/[^/]+\/*$/.exec(path)?.[0] ?? path);
}

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
