import { unbroken } from '../../text/format.js';

/** A piece of a sentence: plain text, or what a link leads to. */
export type Piece =
  | { text: string }
  | { text: string; node: number }
  | { text: string; path: string }
  /** A duration or a factor, which the times of the nodes show. */
  | { text: string; isNumber: true };

/** `340 ms`, `8 m 12 s` or `3.1x`. */
const NUMBER = /\b\d+(?:\.\d)?(?:x| (?:ms|s|[mhd] \d+ [smh]))(?!\w)/.source;

/** Cuts a sentence about a build into pieces, so that the nodes, the files and the numbers in it can be links. */
export function cutSentence(sentence: string, paths: readonly string[]): Piece[] {
  const names = [...new Set(paths)].filter(path => sentence.includes(path)).sort((a, b) => b.length - a.length);
  const files = names.map(escaped);
  // The name of a test case may look like anything.
  const cases = `(?<=${files.join('|')}) \\(.+?\\)(?= on node \\d)`;
  const pattern = new RegExp([cases, ...files, '\\bnodes? \\d+\\b', NUMBER].join('|'), 'gi');
  const pieces: Piece[] = [];
  let end = 0;
  for (const { 0: text, index } of sentence.matchAll(pattern)) {
    if (index > end) pieces.push({ text: unbroken(sentence.slice(end, index)) });
    pieces.push(pieceOf(text, names));
    end = index + text.length;
  }
  if (end < sentence.length) pieces.push({ text: unbroken(sentence.slice(end)) });
  return pieces;
}

function pieceOf(text: string, names: readonly string[]): Piece {
  if (names.includes(text)) return { text, path: text };
  if (text.startsWith(' (')) return { text };
  const node = /^nodes? (\d+)$/i.exec(text);
  return node ? { text, node: Number(node[1]) } : { text: unbroken(text), isNumber: true };
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
