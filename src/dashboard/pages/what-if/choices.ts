import { withQuery } from '../../routes/routes.js';

/** The choices of a reader, as they stand in the address of the page. Null: as in the build. */
export interface Choices {
  mode: 'queue' | 'split' | null;
  /** `true`: long files run in pieces. */
  in_pieces: 'true' | 'false' | null;
  /** Paths of files that are cut. */
  cut: string[];
}

const MODES = ['queue', 'split'] as const;

const FLAGS = ['true', 'false'] as const;

/** The most files that are cut at once. */
const MOST_CUT = 10;

export function choicesOf(query: URLSearchParams): Choices {
  return {
    mode: MODES.find(name => name === query.get('mode')) ?? null,
    in_pieces: FLAGS.find(value => value === query.get('in_pieces')) ?? null,
    cut: (query.get('cut') ?? '').split('\n').filter(Boolean).slice(0, MOST_CUT),
  };
}

/** The query of the address after a file is cut, or no longer cut. */
export function withCut(cut: readonly string[], path: string): string | null {
  const next = cut.includes(path) ? cut.filter(other => other !== path) : [...cut, path].slice(-MOST_CUT);
  return next.length === 0 ? null : next.join('\n');
}

/** The path of the request that plays a build. */
export function whatIfPath(build: string, { cut, ...choices }: Choices): string {
  const path = withQuery(`/v1/builds/${encodeURIComponent(build)}/what_if`, choices);
  const cuts = cut.map(file => `cut=${encodeURIComponent(file)}`);
  return cuts.length === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}${cuts.join('&')}`;
}
