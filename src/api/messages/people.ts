import type { tags } from 'typia';
import type { limits } from '../../limits.js';
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
 * Some send a hex digest instead, which names nobody and is kept.
 */
export function maskPerson(person: string): string {
  if (/^([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})$/i.test(person)) return person;
  return person.replace(/(?<=\w{2})[a-zA-Z]/g, '*');
}

/** What is kept of the people: masked, and without the authors of the last month's commits, which nothing needs. */
export interface MaskedPeople {
  user_seat: string | null;
  build_author: string | null;
}

/** Takes the people out of a message, and masks what is kept of them. */
export function extractPeople<M extends People>(message: M): { rest: Omit<M, keyof People>; people: MaskedPeople } {
  const { user_seat, build_author, commit_authors: _dropped, ...rest } = message;
  return {
    rest,
    people: {
      user_seat: user_seat === undefined ? null : maskPerson(user_seat),
      build_author: build_author === undefined ? null : maskPerson(build_author),
    },
  };
}
