import type { NodeIndex, NodeTotal, Text } from './text.js';

/** What makes a build: the unique triple, within a project. */
export interface BuildKey {
  commit_hash: Text;
  branch: Text;
  node_total: NodeTotal;
}

/** A build and one of its nodes: the parameters common to all endpoints that CI nodes call. */
export interface NodeKey extends BuildKey {
  node_index: NodeIndex;
}
