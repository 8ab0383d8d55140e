import { withQuery } from '../../routes/routes.js';

/** The choices of a reader, as they stand in the address of the page: the server says what is wrong with them. Null: as in the build. */
export interface Choices {
  mode: string | null;
  /** `true`: long files run in pieces. */
  in_pieces: string | null;
}

export function choicesOf(query: URLSearchParams): Choices {
  return { mode: query.get('mode'), in_pieces: query.get('in_pieces') };
}

/** The path of the request that plays a build. */
export function whatIfPath(build: string, choices: Choices): string {
  return withQuery(`/v1/builds/${encodeURIComponent(build)}/what_if`, { ...choices });
}

/** The path of the request that plays the last builds of a branch in the same way. */
export function nodeCountsPath(branch: string, choices: Choices): string {
  return withQuery('/v1/trends/node_counts', { branch, ...choices });
}
