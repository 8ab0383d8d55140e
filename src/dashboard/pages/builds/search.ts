import type { SimilarNames } from '../../../protocol/answers/trends.js';
import { parseSearch, searchWord } from '../../text/search.js';

/** The words of a search in the list of builds. */
const BUILD_WORDS = {
  branch: { kind: 'text', about: 'the name of a branch' },
  commit: { kind: 'text', about: 'a commit hash, or its beginning' },
  failed: { kind: 'flag', about: 'only builds with failed tests' },
  nodes: { kind: 'number', about: 'a number of nodes' },
  from: { kind: 'text', about: 'a day, as 2026-11-22' },
  to: { kind: 'text', about: 'a day, as 2026-11-22' },
} as const;

export interface BuildSearch {
  /** The query of GET /v1/build_summaries. */
  query: Record<string, string>;
  problems: string[];
}

/** Reads a search for builds. A word alone is a branch, because most people look for theirs. */
export function parseBuildSearch(text: string): BuildSearch {
  const { filters, words, problems } = parseSearch(text, BUILD_WORDS);
  const query: Record<string, string> = {};
  const branch = filters.branch ?? words[0];
  if (branch !== undefined) query.branch = branch;
  if (filters.commit !== undefined) query.commit_hash = filters.commit;
  if (filters.nodes !== undefined) query.node_total = filters.nodes;
  if (filters.failed !== undefined) query.failed = 'true';
  const days = (['from', 'to'] as const).filter(name => filters[name] !== undefined);
  const unclear = days.filter(name => !isDay(filters[name]!));
  for (const name of days) if (!unclear.includes(name)) query[name] = filters[name]!;
  const ignored = filters.branch === undefined ? words.slice(1) : words;
  return {
    query,
    problems: [
      ...problems,
      ...unclear.map(name => `${name}:${filters[name]} is not a day. Write ${name}:2026-11-22.`),
      ...ignored.map(word => `"${word}" has no name before it. Write branch:${word} or commit:${word}.`),
    ],
  };
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text);
}

/** The search that a query comes from. */
export function searchOf({ branch, commit_hash, node_total, failed, from, to }: Record<string, string>): string {
  const words = [
    branch !== undefined && searchWord('branch', branch),
    commit_hash !== undefined && searchWord('commit', commit_hash),
    node_total !== undefined && `nodes:${node_total}`,
    failed !== undefined && 'failed:',
    from !== undefined && `from:${from}`,
    to !== undefined && `to:${to}`,
  ];
  return words.filter(Boolean).join(' ');
}

/** The query with the whole hash, if a single commit begins with the one that was asked for; else null. */
export function withWholeHash(query: Record<string, string>, similar: SimilarNames | null | undefined): Record<string, string> | null {
  const [hash, ...others] = similar?.commit_hashes ?? [];
  return hash !== undefined && others.length === 0 && similar!.branches === null ? { ...query, commit_hash: hash } : null;
}
