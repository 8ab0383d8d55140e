/** What identifies a build within a project. */
export interface BuildKey {
  commit_hash: string;
  branch: string;
  node_total: number;
}

/** A node of a build. */
export interface NodeKey extends BuildKey {
  node_index: number;
}

/** A filter for lists of builds. A missing field matches every build. */
export type BuildFilter = Partial<BuildKey>;
