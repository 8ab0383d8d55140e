import type { BuildKey } from '../../engine/keys.js';

/** Columns of text that hold JSON: PostgreSQL refuses NUL in a text, and names and lists come from clients. */

/** The value in a column; null: there is no row, or it has none. */
export function fromJson<T>(text: string | null | undefined): T | null {
  return text === null || text === undefined ? null : (JSON.parse(text) as T);
}

/** The commit hash and the branch of a build, in one column. */
export function toNames({ commit_hash, branch }: Pick<BuildKey, 'commit_hash' | 'branch'>): string {
  return JSON.stringify([commit_hash, branch]);
}

export function fromNames(names: string): Pick<BuildKey, 'commit_hash' | 'branch'> {
  const [commit_hash, branch] = JSON.parse(names) as [string, string];
  return { commit_hash, branch };
}

/** Makes the difference between a node's list and that of its split or queue a field of a record that may lack it. */
export function otherList(text: string | null): { other_list?: string } {
  return text === null ? {} : { other_list: JSON.parse(text) as string };
}
