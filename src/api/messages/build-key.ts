import type { tags } from 'typia';
import type { limits } from '../../limits.js';
import type { NodeIndex, NodeTotal, OptionalText, Text } from './text.js';

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

/** Who started the build and who wrote its code. Clients may leave out any of them or send null. They are validated, and not kept. */
export interface People {
  user_seat?: OptionalText;
  build_author?: OptionalText;
  commit_authors?: CommitAuthor[] & tags.MaxItems<typeof limits.commitAuthorsPerRequest>;
}

export interface CommitAuthor {
  commits: number;
  author: OptionalText;
}
