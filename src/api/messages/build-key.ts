import type { NodeIndex, NodeTotal, Text } from './text.js';

/** Identifies a build within a project. */
export interface BuildKey {
  commit_hash: Text;
  branch: Text;
  node_total: NodeTotal;
}

/** Identifies one node of a build. All endpoints that CI nodes call have these parameters. */
export interface NodeKey extends BuildKey {
  node_index: NodeIndex;
}
