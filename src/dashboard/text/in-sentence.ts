import { visible } from './path-text.js';

/** The most characters of a name within a sentence. */
const MOST = 60;

/** The last part of a path, as it stands in a sentence: `checkout_spec.rb`. What cannot be seen is written out. */
export function nameOf(path: string): string {
  return inSentence(/[^/]+\/*$/.exec(path)?.[0] ?? path);
}

/** Text that somebody else chose, as it stands in a sentence: not too long, and without an effect on the words around it. */
export function inSentence(text: string): string {
  const short = shortened(visible(text), MOST);
  // An isolate keeps text that is read from right to left where it is.
  return /^[ -~…]*$/.test(short) ? short : `\u2068${short}\u2069`;
}

/** A commit hash, as it stands in a sentence or a cell. It is text that a client sent. */
export function commitOf(hash: string): string {
  return inSentence([...visible(hash.slice(0, 32))].slice(0, 8).join(''));
}

/** A text of at most `most` characters: an ellipsis stands for its middle. Paths differ at their ends. */
export function shortened(text: string, most: number): string {
  // A character has at most two units, and no more are read than are needed.
  const characters = text.length <= most * 4 ? [...text] : [...text.slice(0, most * 2), ...text.slice(-most * 2)];
  if (characters.length <= most) return text;
  const head = Math.floor((most - 1) / 3);
  return `${characters.slice(0, head).join('')}…${characters.slice(characters.length - (most - 1 - head)).join('')}`;
}
