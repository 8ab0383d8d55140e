import { hash } from 'node:crypto';
import type { OtlpAttribute, OtlpSpan, OtlpTraceAnswer } from '../../../protocol/answers/timeline.js';
import type { BuildState } from '../../../protocol/build-state.js';
import { fileOf } from '../../../protocol/test-case.js';
import { tooLarge } from '../../engine/builds.js';
import { UNNAMED_CI_RUN } from '../../engine/keys.js';
import type { Millis } from '../../engine/ports/store.js';
import { type Execution, executionsOf, type NodeWork, type Work } from '../minutes/executions.js';
import { fileOutcomes } from '../minutes/file-outcomes.js';
import type { Subject } from '../subject.js';
import { isRecorded, type Timeline } from './timeline.js';

/** Files of a build in a request to a collector of OpenTelemetry: each takes about 600 bytes. */
const OTLP_FILES = 100_000;

const INTERNAL = 1;
const SERVER = 2;
const STATUS_ERROR = 2;
const NO_PARENT = '';
/** Attributes of seconds. All other numbers are counts and indices: a backend has one type for an attribute. */
const DURATIONS = new Set(['ballast.seconds', 'ballast.estimate', 'ballast.paused_seconds']);

type Attributes = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** A span without what is the same for all, or computed from the rest. Times are seconds since the start of the CI run. */
interface Draft {
  /** Identifies the span in its trace, also when the trace is exported again. */
  key: string;
  parent: string;
  name: string;
  kind: number;
  from: number;
  to: number;
  attributes: Attributes;
  /** Of an error. */
  message?: string | undefined;
}

/**
 * A CI run as a request to a collector of OpenTelemetry (OTLP/JSON, ExportTraceServiceRequest), with the semantic conventions for CI/CD and
 * tests: a span for the run, and below it one for each node that started, one for each of its batches, and one for each execution of a file
 * that was recorded. Its ids depend only on the CI run and the place in it. Throws a 422 when it has too many files.
 *
 * @param pipeline the name of the project
 */
export function otlpTrace(subject: Subject, timeline: Timeline, pipeline: string): OtlpTraceAnswer {
  const { build, recorded, ciRun } = subject;
  const { nodes, started_at } = timeline;
  const count = nodes.reduce((sum, { spans }) => sum + spans.reduce((files, span) => files + span.files.length, 0), 0);
  if (count > OTLP_FILES) throw tooLarge('files to trace for a collector', OTLP_FILES);
  const id = (ciRun ?? recorded)?.id ?? '';
  const traceId = digest(`${subject.project} ${id}`, 16);
  const run = ciRun && ciRun.ci_run !== UNNAMED_CI_RUN ? ciRun.ci_run : id;
  const root = runDraft(subject, timeline, pipeline);
  return {
    resourceSpans: [
      {
        resource: {
          attributes: attributesOf({
            'service.name': pipeline,
            'cicd.pipeline.name': pipeline,
            'cicd.pipeline.run.id': run,
            'vcs.ref.head.name': build.branch,
            'vcs.ref.head.revision': build.commit_hash,
          }),
        },
        scopeSpans: [
          {
            scope: { name: 'ballast' },
            spans: [root, ...executionsOf(timeline).flatMap(node => nodeDrafts(node, timeline, root.key))].map(draft =>
              spanOf(draft, traceId, started_at),
            ),
          },
        ],
      },
    ],
  };
}

/** The type of error of a CI run that failed. */
const ERRORS: Partial<Record<BuildState, string>> = { missing: 'files_missing', failed: 'tests_failed' };
/** The result of any other. Most clients do not say which files failed: then nobody knows that all passed. */
const RESULTS: Partial<Record<BuildState, string>> = { cancelled: 'cancellation', complete: 'success' };

function runDraft({ build, recorded, ciRun }: Subject, timeline: Timeline, pipeline: string): Draft {
  const { kind, wall, is_running, state, areStartsKnown, paused, paths } = timeline;
  const { failed, missing } = fileOutcomes(timeline, 0);
  const error = ERRORS[state] ?? null;
  return {
    key: 'run',
    parent: NO_PARENT,
    name: `RUN ${pipeline}`,
    kind: SERVER,
    from: 0,
    to: wall,
    attributes: {
      'cicd.pipeline.action.name': 'RUN',
      'cicd.pipeline.run.state': is_running ? 'executing' : null,
      'cicd.pipeline.result': error ? 'failure' : (RESULTS[state] ?? null),
      'error.type': error,
      'ballast.build_id': recorded?.id,
      'ballast.ci_run_id': ciRun?.id,
      'ballast.kind': kind,
      'ballast.node_total': build.node_total,
      'ballast.files': paths.length,
      'ballast.files_missing': missing.length,
      'ballast.files_failed': failed?.length,
      'ballast.starts_of_nodes': areStartsKnown ? 'known' : 'derived',
      'ballast.starts_of_files': 'derived',
      'ballast.paused_seconds': paused > 0 ? paused : null,
    },
    message: error ? `test files: ${missing.length} missing, ${failed?.length ?? 0} failed` : undefined,
  };
}

function nodeDrafts({ lane, works, isLost: isSilent }: NodeWork, timeline: Timeline, parent: string): Draft[] {
  const { node_index, start, end, recordedAt, isCancelled } = lane;
  if (start === null) return [];
  const key = `node ${node_index}`;
  // It said why it recorded nothing.
  const isLost = isSilent && !isCancelled;
  const hasFailed = failedAtLast(works);
  const error = isCancelled ? null : isLost ? 'node_lost' : hasFailed ? 'tests_failed' : null;
  const isSuccess = hasFailed === false && recordedAt !== null && !timeline.is_running;
  const node: Draft = {
    key,
    parent,
    name: key,
    kind: INTERNAL,
    from: start,
    to: end ?? start,
    attributes: {
      'cicd.pipeline.task.name': key,
      'cicd.pipeline.task.run.id': String(node_index),
      'cicd.pipeline.task.type': 'test',
      'cicd.pipeline.task.run.result': isCancelled
        ? 'cancellation'
        : isLost
          ? 'error'
          : hasFailed
            ? 'failure'
            : isSuccess
              ? 'success'
              : null,
      'error.type': error,
      'ballast.node_index': node_index,
      'ballast.recorded': recordedAt !== null,
    },
    message: error === null ? undefined : isLost ? 'the node recorded nothing after its last files' : 'files of the node failed',
  };
  return [
    node,
    ...works.flatMap((work, i) => [batchDraft(work, `${key} batch ${i}`, key), ...fileDrafts(work, `${key} batch ${i}`, timeline)]),
  ];
}

/** Reports whether some file failed when the node last ran it; null: its client does not report it. */
function failedAtLast(works: readonly Work[]): boolean | null {
  const outcomes = new Map<number, boolean>();
  for (const { span } of works) {
    if (span.failed === null) continue;
    const failed = new Set(span.failed);
    for (const file of span.files) outcomes.set(file, failed.has(file));
  }
  return outcomes.size === 0 ? null : [...outcomes.values()].includes(true);
}

function batchDraft({ span }: Work, key: string, parent: string): Draft {
  const { batch, from, to, files, seconds, is_replay, lease, failed } = span;
  return {
    key,
    parent,
    name: batch === null ? 'files' : `batch ${batch}`,
    kind: INTERNAL,
    from,
    to,
    attributes: {
      'ballast.batch': batch,
      'ballast.files': files.length,
      'ballast.files_recorded': seconds.filter(each => each !== null).length,
      'ballast.files_failed': failed?.length,
      'ballast.again': is_replay || null,
      'ballast.lease': lease,
    },
  };
}

/** The files follow one another, because only their durations are known. Where nothing was recorded, not even these are. */
function fileDrafts({ span, executions }: Work, parent: string, { paths, estimates, is_guess }: Timeline): Draft[] {
  if (!isRecorded(span)) return [];
  const failed = span.failed && new Set(span.failed);
  let from = span.from;
  return executions.map(({ file, busy, seconds, isRepeat }: Execution): Draft => {
    const path = paths[file]!;
    const parentFile = fileOf(path);
    const hasFailed = failed?.has(file) ?? null;
    const to = from + busy;
    const draft: Draft = {
      key: `${parent} ${path}`,
      parent,
      name: path,
      kind: INTERNAL,
      from,
      to,
      attributes: {
        'test.suite.name': parentFile ?? path,
        ...(parentFile === null
          ? { 'test.suite.run.status': hasFailed === null ? null : hasFailed ? 'failure' : 'success' }
          : { 'test.case.name': path, 'test.case.result.status': hasFailed === null ? null : hasFailed ? 'fail' : 'pass' }),
        'ballast.seconds': seconds,
        'ballast.estimate': estimates[file],
        'ballast.guess': is_guess[file] === 1 || null,
        'ballast.again': isRepeat || null,
      },
      message: hasFailed ? 'it failed' : undefined,
    };
    from = to;
    return draft;
  });
}

function spanOf({ key, parent, name, kind, from, to, attributes, message }: Draft, traceId: string, startedAt: Millis): OtlpSpan {
  return {
    traceId,
    spanId: digest(`${traceId} ${key}`, 8),
    ...(parent !== NO_PARENT && { parentSpanId: digest(`${traceId} ${parent}`, 8) }),
    name,
    kind,
    startTimeUnixNano: nanos(startedAt, from),
    endTimeUnixNano: nanos(startedAt, to),
    attributes: attributesOf(attributes),
    ...(message !== undefined && { status: { code: STATUS_ERROR, message } }),
  };
}

/** A time in nanoseconds since 1970, to the microsecond: more digits are not exact in a number, and JSON has it as a string. */
function nanos(startedAt: Millis, seconds: number): string {
  return `${Math.round(startedAt * 1000 + seconds * 1e6)}000`;
}

/** Returns the known attributes. A collector refuses all spans for half a surrogate pair, which a branch or an id may have, and a path may not. */
function attributesOf(attributes: Attributes): OtlpAttribute[] {
  return Object.entries(attributes).flatMap(([key, value]) => {
    if (value === null || value === undefined) return [];
    if (typeof value === 'string') return { key, value: { stringValue: value.toWellFormed() } };
    if (typeof value === 'boolean') return { key, value: { boolValue: value } };
    return { key, value: DURATIONS.has(key) ? { doubleValue: value } : { intValue: String(value) } };
  });
}

/** The first bytes of a digest in hex. */
function digest(text: string, bytes: number): string {
  return hash('sha256', text).slice(0, 2 * bytes);
}
