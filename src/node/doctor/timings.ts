import { extname, posix } from 'node:path';
import { agree, pluralize } from '../../base/plural.js';
import { abbreviate } from '../../base/terminal.js';
import type { Identity } from '../ci/identity.js';
import { parseLastRecording, parsePlan } from '../client/answers.js';
import { type Api, RequestRejected, ServerUnreachable } from '../client/api.js';
import { normalizePath } from '../reports/known-files.js';
import { type Finding, fine, warning } from './finding.js';

/** Share of unknown files that is worth a warning. */
const FEW = 0.5;

/** Compares the list with what the server has measured. */
export async function checkTimings(api: Api, files: readonly string[], identity: Partial<Identity>): Promise<Finding[]> {
  const { branch = 'main', commit_hash = 'none', node_total = 1 } = identity;
  try {
    const plan = await api.post('/v1/plan', { branch, nodes: '1', test_files: files.map(path => ({ path })) }, parsePlan);
    const known = plan.files - plan.unknown_files;
    const query = new URLSearchParams({ branch, commit_hash, node_total: String(node_total), node_index: '0' });
    const { test_files } = await api.get(`/v1/build_distributions/last?${query.toString()}`, parseLastRecording);
    const recorded = test_files.map(({ path }) => path);
    return timingFindings(files, known, recorded);
  } catch (error) {
    if (!(error instanceof RequestRejected || error instanceof ServerUnreachable)) throw error;
    return warning(
      'list.not_compared',
      `the list could not be compared with the timings: ${error.message}`,
      'run doctor again when the server answers such requests',
    );
  }
}

/** @param recorded the files of the newest build; empty: there is none */
function timingFindings(files: readonly string[], known: number, recorded: readonly string[]): Finding[] {
  const count = `${known} of ${files.length} ${agree(known, 'has', 'have')} timings`;
  if (known === 0 && recorded.length === 0)
    return fine(
      'list.first_build',
      `${count}: the project has no build yet, and its first one is divided without timings (ballast import records those of other tools)`,
    );
  const inNewest = new Set(recorded);
  const unknown = files.filter(path => !inNewest.has(path));
  const cause = known < files.length ? renaming(unknown, recorded) : null;
  if (cause && cause.count >= FEW * unknown.length)
    return warning(
      `list.${cause.kind}`,
      `${count}, and ${pluralize(cause.count, 'other is', 'others are')} recorded ${cause.difference}: ${cause.listed} is listed, and ${cause.recorded} was recorded`,
      cause.remedy,
    );
  const others = unknown.slice(0, files.length - known);
  if (known >= FEW * files.length)
    return fine('list.known', `${count}${others.length > 0 ? `; new, or not in the newest build: ${abbreviate(others)}` : ''}`);
  const listed = new Set(files);
  const isCutShort = recorded.length < files.length && recorded.filter(path => listed.has(path)).length >= FEW * recorded.length;
  return warning(
    'list.unknown',
    `${count}: the newest build has ${pluralize(recorded.length, 'file')}, such as ${abbreviate(recorded.slice(0, 3))}, and the list has ${abbreviate(others.slice(0, 3))}`,
    isCutShort
      ? 'run all nodes again until verify ends with 0: a build that failed records only some of its files'
      : 'check that the token is of the project of this suite: each suite has its own',
  );
}

interface Renaming {
  kind: 'recorded_prefix' | 'recorded_case' | 'recorded_extension' | 'recorded_slashes';
  /** As the end of "are recorded ...". */
  difference: string;
  remedy: string;
  count: number;
  listed: string;
  recorded: string;
}

const SAME_PATHS = 'list the paths as they were recorded, or record them once more as they are listed now (the old ones are forgotten)';

/** The difference between listed and recorded paths that explains most of the unknown files; null: none does. */
function renaming(unknown: readonly string[], recorded: readonly string[]): Renaming | null {
  const withoutExtension = (path: string) => path.slice(0, path.length - extname(path).length);
  const byForm = (form: (path: string) => string) => {
    const forms = new Map(recorded.map(path => [form(path), path]));
    return unknown.flatMap(path => {
      const other = forms.get(form(path));
      return other === undefined ? [] : [[path, other] as const];
    });
  };
  const of = (kind: Renaming['kind'], difference: string, pairs: (readonly [string, string])[], remedy = SAME_PATHS): Renaming[] => {
    const [first] = pairs;
    return first ? [{ kind, difference, remedy, count: pairs.length, listed: first[0], recorded: first[1] }] : [];
  };
  const found = [
    ...of('recorded_slashes', 'with other slashes or without ./', byForm(normalizePath)),
    ...prefixes(unknown, recorded).flatMap(({ difference, pairs, remedy }) => of('recorded_prefix', difference, pairs, remedy)),
    ...of(
      'recorded_case',
      'with other capitals',
      byForm(path => path.toLowerCase()),
    ),
    ...of('recorded_extension', 'with another extension', byForm(withoutExtension)),
  ];
  return found.reduce<Renaming | null>((best, each) => (best === null || each.count > best.count ? each : best), null);
}

/** Paths that are the same but for the folders before them, by these folders. */
function prefixes(unknown: readonly string[], recorded: readonly string[]) {
  const byName = new Map<string, string[]>();
  for (const path of recorded) {
    const name = posix.basename(path);
    const others = byName.get(name);
    if (others) others.push(path);
    else byName.set(name, [path]);
  }
  const groups = new Map<string, { difference: string; remedy: string; pairs: [string, string][] }>();
  for (const path of unknown.map(each => [each, normalizePath(each)] as const)) {
    for (const other of byName.get(posix.basename(path[1])) ?? []) {
      const [longer, shorter] = other.length > path[1].length ? [other, path[1]] : [path[1], other];
      if (longer.length === shorter.length || !longer.endsWith(`/${shorter}`)) continue;
      const prefix = longer.slice(0, longer.length - shorter.length);
      const isRecorded = longer === other;
      const difference = `${isRecorded ? 'with' : 'without'} ${prefix} in front`;
      const remedy = isRecorded
        ? `start in the folder where ${prefix} lies, and give the globs with it; or record the files once more as they are listed now`
        : `start in ${prefix}, and list the files from there; or record the files once more as they are listed now`;
      const group = groups.get(difference) ?? { difference, remedy, pairs: [] };
      group.pairs.push([path[0], other]);
      groups.set(difference, group);
    }
  }
  return [...groups.values()].sort((a, b) => b.pairs.length - a.pairs.length).slice(0, 1);
}
