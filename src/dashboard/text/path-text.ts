/**
 * Characters that move other text or cannot be seen: controls, and the marks, embeddings, overrides and isolates of bidirectional text. A
 * path with them could look like another path.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for.
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

const TAIL = 32;

/** Text with what cannot be seen written as `\u202e`. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * Cuts visible text in two. A narrow column cuts off the end of `head` and keeps `tail`, the name of the file or its end, because paths
 * differ at their ends.
 */
export function cutForColumn(text: string): { head: string; tail: string } {
  const name = text.lastIndexOf('/', text.length - 2) + 1;
  let cut = text.length - name > TAIL || name === 0 ? Math.max(0, text.length - TAIL) : name - 1;
  // Both halves of a surrogate pair go together.
  if (/[\udc00-\udfff]/.test(text[cut] ?? '')) cut--;
  return { head: text.slice(0, cut), tail: text.slice(cut) };
}
