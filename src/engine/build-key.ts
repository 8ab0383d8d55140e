/** What makes a build, within a project. */
export interface BuildKey {
  commit_hash: string;
  branch: string;
  node_total: number;
}

/** A node of a build. */
export interface NodeKey extends BuildKey {
  node_index: number;
}

/** What narrows a list of builds; a missing field does not. */
export type BuildFilter = Partial<BuildKey>;
