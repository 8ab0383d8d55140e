/** A piece of a sentence: plain text, or what a link leads to. */
export type Piece = { text: string } | { text: string; node: number } | { text: string; path: string };

/** Cuts a sentence about a build into pieces, so that the nodes and the files in it can be links. */
export function cutSentence(sentence: string, paths: readonly string[]): Piece[] {
  const names = [...new Set(paths)].filter(path => sentence.includes(path)).sort((a, b) => b.length - a.length);
  const pattern = new RegExp([...names.map(escaped), '\\bnodes? \\d+\\b'].join('|'), 'gi');
  const pieces: Piece[] = [];
  let end = 0;
  for (const { 0: text, index } of sentence.matchAll(pattern)) {
    if (index > end) pieces.push({ text: sentence.slice(end, index) });
    pieces.push(names.includes(text) ? { text, path: text } : { text, node: Number(/\d+/.exec(text)![0]) });
    end = index + text.length;
  }
  if (end < sentence.length) pieces.push({ text: sentence.slice(end) });
  return pieces;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
