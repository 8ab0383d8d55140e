import type { tags } from 'typia';
import type { limits } from '../../limits.js';
import type { OptionalText } from './text.js';

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
