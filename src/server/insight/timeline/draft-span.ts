import { fileOf } from '../../../protocol/test-case.js';
import type { Run } from '../../engine/ports/builds.js';
import type { Millis } from '../../engine/ports/store.js';
import { isRequeued } from '../../engine/queue/batch.js';
import { outcomeOf } from '../../engine/test-file.js';
import type { FileColumns } from './file-columns.js';
import { expectedSeconds, type Span } from './timeline.js';

/** Recorded times beyond a week are errors, which must not drown all others. */
const MAX_SECONDS = 7 * 86_400;

/** Time that the files of a run took together, in whole milliseconds. */
export function millisecondsIn({ seconds }: Pick<Run, 'seconds'>): number {
  const total = seconds.reduce((sum, each) => sum + each, 0);
  return Math.round(1000 * Math.min(MAX_SECONDS, total));
}

/** A span that is being read: its times are milliseconds since 1970. */
export function draftSpan(from: Millis, to: Millis, files: readonly number[], more: Partial<Span> = {}): Span {
  const seconds = files.map(() => null);
  return { batch: null, from, to, files: [...files], seconds, is_replay: false, lease: null, failed: null, ...more };
}

interface Place {
  span: Span;
  at: number;
}

/**
 * Gives the recorded times of a run to the spans in which the node ran the files: each to the last span that has the file. A client may
 * be handed a file and record its test cases, or the reverse. A file that no span has is added to the last one.
 */
export function addRun(
  { paths, seconds, outcomes }: Pick<Run, 'paths' | 'seconds' | 'outcomes'>,
  spans: readonly Span[],
  columns: FileColumns,
): void {
  const last = spans.at(-1);
  if (!last) return;
  const places = new Map<number, Place>();
  for (const span of spans) for (const [at, file] of span.files.entries()) places.set(file, { span, at });
  let cases: Map<string, number[]> | null = null;
  for (const [i, path] of paths.entries()) {
    const time = Math.min(MAX_SECONDS, seconds[i]!);
    const known = columns.find(path);
    const place = known === undefined ? undefined : places.get(known);
    const outcome = outcomeOf(outcomes[i]!);
    if (outcome === 'muted' && place?.span.failed?.includes(known!)) (place.span.muted ??= []).push(known!);
    if (outcome === 'flaky' && place) (place.span.flaky ??= []).push(known!);
    const parent = place ? null : fileOf(path);
    const ofParent = parent === null ? undefined : places.get(columns.find(parent) ?? -1);
    if (place ?? ofParent) {
      addTime((place ?? ofParent)!, time);
      continue;
    }
    cases ??= casesIn(places.keys(), columns);
    const ofFile = cases.get(path);
    if (ofFile) {
      divide(ofFile, time, places, columns);
    } else {
      const file = columns.add(path);
      places.set(file, { span: last, at: last.files.push(file) - 1 });
      last.seconds.push(time);
    }
  }
}

function addTime({ span, at }: Place, seconds: number): void {
  span.seconds[at] = (span.seconds[at] ?? 0) + seconds;
}

/** The test cases among files, by the file that they are in. */
function casesIn(files: Iterable<number>, columns: FileColumns): Map<string, number[]> {
  const cases = new Map<string, number[]>();
  for (const file of files) {
    const parent = fileOf(columns.paths[file]!);
    if (parent === null) continue;
    const known = cases.get(parent);
    if (known) known.push(file);
    else cases.set(parent, [file]);
  }
  return cases;
}

/** Divides the time of a file among its test cases, in proportion to their estimates. */
function divide(cases: readonly number[], seconds: number, places: ReadonlyMap<number, Place>, columns: FileColumns): void {
  const total = cases.reduce((sum, file) => sum + columns.estimate(file), 0);
  for (const file of cases) addTime(places.get(file)!, total > 0 ? (seconds * columns.estimate(file)) / total : seconds / cases.length);
}

/** A node that is silent for longer than this, plus this multiple of the expected time of its files, is no longer at work. */
export const SILENT_MILLISECONDS = 900_000;
const SILENT_FACTOR = 3;

/** For how long a node that was not heard of since it got its files may still run them. Null: it is no longer at work. */
export function patienceWith(span: Span, columns: FileColumns, now: Millis): Millis | null {
  const left = span.from + SILENT_MILLISECONDS + SILENT_FACTOR * expectedOf(span, columns) - now;
  return left < 0 || isRequeued(span) ? null : left;
}

/** Time that the files of a span are expected to take, in milliseconds. */
export function expectedOf({ files }: Pick<Span, 'files'>, columns: FileColumns): number {
  return Math.round(expectedSeconds(columns, files) * 1000);
}
