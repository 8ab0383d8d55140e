import { inSentence, pathInSentence } from '../text/in-sentence.js';
import type { Route } from './routes.js';

const NAMES: Record<Route['page'], string> = {
  builds: 'Builds',
  build: 'Build',
  trends: 'Trends',
  files: 'Files',
  file: 'File',
  flaky: 'Flaky',
  nodes: 'Nodes',
  'what-if': 'What-if',
  'set-up': 'Set-up',
  settings: 'Settings',
  projects: 'Projects',
  server: 'Server',
  access: 'Access',
  docs: 'Docs',
  'sign-in': 'Sign in',
  'not-found': 'Not found',
};

/** The tabs of a build beside the first one. */
const TABS: Record<string, string> = { files: 'Files', nodes: 'Nodes', compare: 'Compare', why: 'Why', completeness: 'Completeness' };

/**
 * The title of an address, which tells it from others in tabs, bookmarks and the history: the most specific words first.
 *
 * @param subject what the page is about, once it knows: its words replace those of the address
 */
export function titleOf({ page, project }: Route, query: URLSearchParams, subject: string | null = null): string {
  const asked = (...names: string[]) => names.map(name => inSentence(query.get(name) ?? ''));
  const named: Partial<Record<Route['page'], string[]>> = {
    builds: asked('q'),
    trends: asked('branch'),
    files: asked('q', 'branch'),
    nodes: asked('branch'),
    file: [pathInSentence(query.get('path') ?? '')],
  };
  const specific = (subject === null ? (named[page] ?? []) : [subject]).filter(Boolean);
  // A build and a file are known by what they are.
  const isKnown = specific.length > 0 && (page === 'build' || page === 'file');
  const tab = page === 'build' ? TABS[query.get('tab') ?? ''] : undefined;
  return [...specific, tab, isKnown ? '' : NAMES[page], inSentence(project ?? ''), 'Ballast'].filter(Boolean).join(' · ');
}
