/**
 * Characters that move other text or cannot be seen: controls, and the marks, embeddings, overrides and isolates of bidirectional text. A
 * path with them could look like another path.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for.
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** Text with what cannot be seen written as `\u202e`. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A branch as people call it, where a CI system has another name for it: `PR 12` for refs/pull/12/merge or 12/merge, `main` for refs/heads/main. */
export function branchText(branch: string): string {
  return branch.replace(/^(?:(?:refs\/)?pull\/(\d+)(?:\/(?:merge|head))?|(\d+)\/merge)$/, 'PR $1$2').replace(/^refs\/heads\//, '');
}

/** Cuts a path before the name of its file or, at the end of the path, of its last directory. */
export function atName(text: string): { directory: string; name: string } {
  const cut = text.lastIndexOf('/', text.length - 2) + 1;
  return { directory: text.slice(0, cut), name: text.slice(cut) };
}
