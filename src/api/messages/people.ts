import type { tags } from 'typia';
import type { limits } from '../../limits.js';
import type { OptionalText } from './text.js';

/** Who started the build and who wrote its code. Clients may leave out any of them or send null. */
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
 * Masks a person string as the specification requires; masking twice changes nothing. Clients mask before they send. This ensures that
 * no unmasked person is stored. Some clients send a hex digest instead, which identifies nobody and is kept.
 */
export function maskPerson(person: string): string {
  if (/^([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})$/i.test(person)) return person;
  return person.replace(/(?<=\w{2})[a-zA-Z]/g, '*');
}

/** The people that are stored: masked, and without commit_authors, which nothing needs. */
export interface MaskedPeople {
  user_seat: string | null;
  build_author: string | null;
}

/** The people in a message that are stored. */
export function maskPeople({ user_seat, build_author }: People): MaskedPeople {
  return {
    user_seat: user_seat === undefined ? null : maskPerson(user_seat),
    build_author: build_author === undefined ? null : maskPerson(build_author),
  };
}
