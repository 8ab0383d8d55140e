import type { tags } from 'typia';
import type { limits } from '../limits.js';
import type { OptionalText } from './text.js';

/** Who runs and wrote the build. Real clients leave any of them out or send null. */
export interface People {
  user_seat?: OptionalText;
  build_author?: OptionalText;
  commit_authors?: CommitAuthor[] & tags.MaxItems<typeof limits.commitAuthorsPerRequest>;
}

export interface CommitAuthor {
  commits: number;
  author: OptionalText;
}

/**
 * Masks a person string as the specification has it; masking twice changes nothing.
 * Clients mask before they send; this makes sure that no unmasked person is stored.
 */
export function mask(person: string): string {
  return person.replace(/(?<=\w{2})[a-zA-Z]/g, '*');
}

export function maskPeople({ user_seat, build_author, commit_authors }: People): People {
  return {
    ...(user_seat !== undefined && { user_seat: mask(user_seat) }),
    ...(build_author !== undefined && { build_author: mask(build_author) }),
    ...(commit_authors !== undefined && {
      commit_authors: commit_authors.map(({ commits, author }) => ({ commits, author: mask(author) })),
    }),
  };
}
