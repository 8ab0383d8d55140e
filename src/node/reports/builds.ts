import typia from 'typia';
import { EXPORT_VERSION, type ExportHead } from '../../protocol/export-version.js';
import type { FileOutcome } from '../../protocol/file-outcome.js';
import { jsonDocuments } from './json.js';
import { type AddTime, ReportError } from './report.js';

/** A build with its recorded runs, as in the answer to `GET /builds/:id` and in an export. */
export interface RecordedBuild {
  commit_hash: string;
  branch: string;
  node_total: number;
  /** In any order. */
  build_subsets: RecordedRun[];
}

export interface RecordedRun {
  node_index: number;
  /** ISO 8601 */
  created_at?: string | null;
  test_files: { path: string; time_execution: number | null; outcome?: FileOutcome }[];
}

const isExportHead = typia.createIs<ExportHead>();

interface ExportedBuild extends RecordedBuild {
  project?: string;
}

interface ExportedTiming {
  project?: string;
  path: string;
  time_execution: number | null;
}

/** For each field of T what it must be, in words and as a predicate. */
type Fields<T> = { [Name in keyof T]-?: readonly [expected: string, Predicate] };

type Predicate = (value: unknown) => boolean;
const isRecord = typia.createIs<Record<string, unknown>>();
const isString: Predicate = value => typeof value === 'string';
const isCount: Predicate = value => Number.isSafeInteger(value) && (value as number) >= 0;

// typia would name what it expects in its own words.
const text = ['a text that is not empty', (value: unknown) => isString(value) && value !== ''] as const;
const seconds = ['a number or null', (value: unknown) => value === null || typeof value === 'number'] as const;
const project = ['the name of a project', (value: unknown) => value === undefined || isString(value)] as const;
const buildFields: Fields<ExportedBuild> = {
  commit_hash: text,
  branch: text,
  node_total: ['a whole number from 1 on', value => isCount(value) && value !== 0],
  build_subsets: ['a list', Array.isArray],
  project,
};
const runFields: Fields<RecordedRun> = {
  node_index: ['a whole number from 0 on', isCount],
  created_at: ['a text or null', value => value === undefined || value === null || isString(value)],
  test_files: ['a list', Array.isArray],
};
const path = ['a text', isString] as const;
const fileFields: Fields<RecordedRun['test_files'][number]> = {
  path,
  time_execution: seconds,
  outcome: ['passed, failed, flaky, skipped or muted', typia.createIs<FileOutcome | undefined>()],
};
const timingFields: Fields<ExportedTiming> = { path, time_execution: seconds, project };

/** Throws a ReportError that names the first field that is not what it must be. */
function assertFields<T>(value: unknown, fields: Fields<T>, name: string): asserts value is T {
  const refuse = (at: string, found: unknown, expected: string): never => {
    throw new ReportError(`${at} is ${(JSON.stringify(found) ?? 'missing').slice(0, 100)}, expected ${expected}`);
  };
  if (!isRecord(value)) return refuse(name, value, 'an object');
  for (const [field, [expected, is]] of Object.entries<Fields<T>[keyof T]>(fields))
    if (!is(value[field])) refuse(`${name}.${field}`, value[field], expected);
}

function assertBuild(value: unknown, name: string): asserts value is ExportedBuild {
  assertFields(value, buildFields, name);
  for (const [i, run] of value.build_subsets.entries()) {
    assertFields(run, runFields, `${name}.build_subsets[${i}]`);
    for (const [k, file] of run.test_files.entries()) assertFields(file, fileFields, `${name}.build_subsets[${i}].test_files[${k}]`);
  }
}

/** Returns the build in an answer. Throws a ReportError if it is not a build. */
export function toBuild(answer: unknown): RecordedBuild {
  assertBuild(answer, 'the build');
  return answer;
}

/**
 * Yields the builds of an export, or of saved answers to `GET /builds/:id`, in their order. Passes on the timings of an export without builds;
 * otherwise they follow from the builds.
 * @param project the project to read; null: the only one of the export
 */
export async function* readBuilds(
  bytes: AsyncIterable<Uint8Array>,
  project: string | null,
  addTime: AddTime,
): AsyncGenerator<RecordedBuild> {
  let selected = project;
  let hasBuilds = false;
  let number = 0;
  for await (const document of jsonDocuments(bytes)) {
    number += 1;
    const type = (document as { type?: unknown } | null)?.type ?? 'build';
    if (type === 'export') selected = selectProject(document, selected);
    hasBuilds ||= type === 'build';
    if (type !== 'build' && (type !== 'timing' || hasBuilds)) continue;
    if (type === 'build') assertBuild(document, `document ${number}: the build`);
    else assertFields(document, timingFields, `document ${number}: the timing`);
    const { project: owner, ...record } = document as ExportedBuild | ExportedTiming;
    if (owner !== undefined) selected ??= owner;
    if (owner !== undefined && owner !== selected) {
      if (project === null) throw new ReportError(severalProjectsMessage([selected!, owner]));
    } else if ('path' in record) addTime(record.path, record.time_execution ?? NaN);
    else yield record;
  }
}

function selectProject(head: unknown, wanted: string | null): string | null {
  if (!isExportHead(head)) throw new ReportError('its first line is not the header of an export');
  if (head.v !== EXPORT_VERSION)
    throw new ReportError(`it is an export of version ${head.v}, and this Ballast reads version ${EXPORT_VERSION}`);
  if (wanted === null && head.projects.length > 1) throw new ReportError(severalProjectsMessage(head.projects));
  if (wanted !== null && !head.projects.includes(wanted)) {
    throw new ReportError(
      `it has no project ${JSON.stringify(wanted)}; its projects are ${head.projects.map(name => JSON.stringify(name)).join(', ')}`,
    );
  }
  return wanted ?? head.projects[0] ?? null;
}

function severalProjectsMessage(names: readonly string[]): string {
  return `it has several projects (${names
    .slice(0, 10)
    .map(name => JSON.stringify(name))
    .join(', ')}): name the one to read with --project`;
}

/** Sorts runs by the time of their recording. Runs without a time keep their order. */
export function oldestFirst(runs: readonly RecordedRun[]): RecordedRun[] {
  return [...runs].sort((a, b) => (a.created_at ?? '').localeCompare(b.created_at ?? ''));
}
