import { withQuery } from '../../routes/routes.js';

/** The choices of a reader, as they stand in the address of the page. Null: as in the build. */
export interface Choices {
  mode: 'queue' | 'split' | null;
  /** `true`: long files run in pieces. */
  in_pieces: 'true' | 'false' | null;
}

const MODES = ['queue', 'split'] as const;
const FLAGS = ['true', 'false'] as const;

export function choicesOf(query: URLSearchParams): Choices {
  return {
    mode: MODES.find(name => name === query.get('mode')) ?? null,
    in_pieces: FLAGS.find(value => value === query.get('in_pieces')) ?? null,
  };
}

/** The path of the request that plays a build. */
export function whatIfPath(build: string, choices: Choices): string {
  return withQuery(`/v1/builds/${encodeURIComponent(build)}/what_if`, { ...choices });
}
