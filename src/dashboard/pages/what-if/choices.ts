import { withQuery } from '../../routes/routes.js';

/** The choices of a reader, as they stand in the address of the page. Null: as in the build. */
export interface Choices {
  mode: 'queue' | 'split' | null;
  estimates: 'then' | 'now' | 'exact' | null;
  /** Seconds. */
  start_spread: string | null;
  pull_cost: string | null;
  /** Minutes. */
  setup: string | null;
  /** `true`: long files run in pieces. */
  in_pieces: 'true' | 'false' | null;
  /** Paths of files that are cut. */
  cut: string[];
}

const MODES = ['queue', 'split'] as const;
const ESTIMATES = ['then', 'now', 'exact'] as const;

const FLAGS = ['true', 'false'] as const;

/** The most files that are cut at once. */
const MOST_CUT = 10;

export function choicesOf(query: URLSearchParams): Choices {
  return {
    mode: MODES.find(name => name === query.get('mode')) ?? null,
    estimates: ESTIMATES.find(name => name === query.get('estimates')) ?? null,
    start_spread: numberOf(query.get('start_spread')),
    pull_cost: numberOf(query.get('pull_cost')),
    setup: numberOf(query.get('setup')),
    in_pieces: FLAGS.find(value => value === query.get('in_pieces')) ?? null,
    cut: (query.get('cut') ?? '').split('\n').filter(Boolean).slice(0, MOST_CUT),
  };
}

/** Returns the text of a number; null: it is none. */
function numberOf(text: string | null): string | null {
  return text !== null && /^\d{1,6}(\.\d{1,3})?$/.test(text) ? text : null;
}

/** The query of the address after a file is cut, or no longer cut. */
export function withCut(cut: readonly string[], path: string): string | null {
  const next = cut.includes(path) ? cut.filter(other => other !== path) : [...cut, path].slice(-MOST_CUT);
  return next.length === 0 ? null : next.join('\n');
}

/** The path of the request that plays a build. */
export function whatIfPath(build: string, { cut, setup, ...choices }: Choices): string {
  const seconds = setup === null ? null : String(60 * Number(setup));
  const path = withQuery(`/v1/builds/${encodeURIComponent(build)}/what_if`, { ...choices, setup: seconds });
  const cuts = cut.map(file => `cut=${encodeURIComponent(file)}`);
  return cuts.length === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}${cuts.join('&')}`;
}
