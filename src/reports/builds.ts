import typia, { type tags } from 'typia';
import { EXPORT_VERSION, type ExportHead } from '../engine/export-version.js';
import { jsonDocuments } from './json.js';
import { type AddTime, ReportError } from './report.js';

type Text = string & tags.MinLength<1>;
type Count = number & tags.Type<'int64'>;

/** A build with its recorded runs, as in the answer to `GET /builds/:id` and in an export. */
export interface RecordedBuild {
  commit_hash: Text;
  branch: Text;
  node_total: Count & tags.Minimum<1>;
  /** In any order. */
  build_subsets: RecordedRun[];
}

export interface RecordedRun {
  node_index: Count & tags.Minimum<0>;
  /** ISO 8601 */
  created_at?: string | null;
  test_files: { path: string; time_execution: number | null }[];
}

interface ExportedBuild extends RecordedBuild {
  project?: string;
}

interface ExportedTiming {
  project?: string;
  path: string;
  time_execution: number | null;
}

const validateBuild = typia.createValidate<RecordedBuild>();
const validateExported = typia.createValidate<ExportedBuild>();
const validateTiming = typia.createValidate<ExportedTiming>();
const isHead = typia.createIs<ExportHead>();

/** Returns the build in an answer. Throws a ReportError if it is not a build. */
export function toBuild(answer: unknown): RecordedBuild {
  const { errors } = { errors: [], ...validateBuild(answer) };
  if (errors.length > 0) throw new ReportError(validationMessage(errors, 'build'));
  return answer as RecordedBuild;
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
    const { errors } = { errors: [], ...(type === 'build' ? validateExported(document) : validateTiming(document)) };
    if (errors.length > 0) throw new ReportError(`document ${number}: ${validationMessage(errors, type)}`);
    const { project: owner, ...record } = document as ExportedBuild | ExportedTiming;
    if (owner !== undefined) selected ??= owner;
    if (owner !== undefined && owner !== selected) {
      if (project === null) throw new ReportError(severalProjectsMessage([selected!, owner]));
    } else if ('path' in record) addTime(record.path, record.time_execution ?? NaN);
    else yield record;
  }
}

function selectProject(head: unknown, wanted: string | null): string | null {
  if (!isHead(head)) throw new ReportError('its first line is not the header of an export');
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

function validationMessage([first]: readonly { path: string; expected: string; value: unknown }[], type: string): string {
  const { path, expected, value } = first!;
  return `${path.replace('$input', `the ${type}`)} is ${(JSON.stringify(value) ?? 'missing').slice(0, 100)}, expected ${expected.replaceAll(/ & (Type|Minimum|MinLength)<[^>]*>/g, '')}`;
}

/** Sorts runs by the time of their recording. Runs without a time keep their order. */
export function oldestFirst(runs: readonly RecordedRun[]): RecordedRun[] {
  return [...runs].sort((a, b) => (a.created_at ?? '').localeCompare(b.created_at ?? ''));
}
