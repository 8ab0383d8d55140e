import { wholeMilliseconds } from '../../../base/rounding.js';
import { timestamp } from '../../../base/time.js';
import type { TraceAnswer, TraceEvent } from '../../../protocol/answers/timeline.js';
import { limits } from '../../../protocol/limits.js';
import { tooLarge } from '../../engine/builds.js';
import { executionsOf, type NodeWork, type Work } from '../minutes/executions.js';
import type { Subject } from '../subject.js';
import type { Timeline } from './timeline.js';

/** Files of a build that are traced: each takes about 250 bytes. */
const TRACED_FILES = 400_000;

/** No node has this number. Viewers take the thread with the number of its process for the main one, and show it first. */
const PROCESS = limits.nodesPerBuild;
const CATEGORY = { batch: 'batch', file: 'file' };

/**
 * A build as Chrome trace events: a thread for each node, batches, and the files of each one after another. Throws a 422 when it has too
 * many files.
 */
export function traceAnswer({ build, recorded, ciRun }: Subject, timeline: Timeline): TraceAnswer {
  const { started_at, kind, nodes } = timeline;
  const count = nodes.reduce((sum, { spans }) => sum + spans.reduce((files, span) => files + span.files.length, 0), 0);
  if (count > TRACED_FILES) throw tooLarge('files to trace', TRACED_FILES);
  const name = `${build.branch} ${build.commit_hash}`;
  return {
    displayTimeUnit: 'ms',
    otherData: { ...build, build_id: recorded?.id ?? null, ci_run: ciRun?.ci_run ?? null, kind, started_at: timestamp(started_at) },
    traceEvents: [
      metadata('process_name', 0, { name }),
      ...nodes.flatMap(({ node_index }) => [
        metadata('thread_name', node_index, { name: `node ${node_index}` }),
        metadata('thread_sort_index', node_index, { sort_index: node_index }),
      ]),
      ...executionsOf(timeline).flatMap(node => eventsOf(node, timeline)),
      ...(kind === 'queue' ? remainingWork(timeline) : []),
    ],
  };
}

function metadata(name: TraceEvent['name'], tid: number, args: TraceEvent['args']): TraceEvent {
  return { name, ph: 'M', pid: PROCESS, tid, ts: 0, args };
}

function eventsOf({ lane, works }: NodeWork, timeline: Timeline): TraceEvent[] {
  return works.flatMap(work => [batchEvent(work, lane.node_index), ...fileEvents(work, lane.node_index, timeline)]);
}

function batchEvent({ span }: Work, tid: number): TraceEvent {
  const { batch, from, to, files, is_replay, lease } = span;
  const name = `${batch === null ? 'files' : `batch ${batch}`} (${files.length})`;
  const args = { files: files.length, ...(is_replay && { again: true }), ...(lease && { lease }) };
  const ts = micros(from);
  // The difference of rounded ends, as for its files, which it contains.
  return { name, cat: CATEGORY.batch, ph: 'X', pid: PROCESS, tid, ts, dur: micros(to) - ts, args };
}

function fileEvents({ span, executions }: Work, tid: number, { paths, estimates, is_guess }: Timeline): TraceEvent[] {
  const failed = new Set(span.failed);
  let at = span.from;
  return executions.map(({ file, busy, seconds, isRepeat }): TraceEvent => {
    const ts = micros(at);
    at += busy;
    const args = {
      estimate: estimates[file]!,
      seconds,
      ...(is_guess[file] === 1 && { guess: true }),
      ...(isRepeat && { again: true }),
      ...(failed.has(file) && { failed: true }),
    };
    // The difference of rounded ends, so that files do not overlap.
    return { name: paths[file]!, cat: CATEGORY.file, ph: 'X', pid: PROCESS, tid, ts, dur: micros(at) - ts, args };
  });
}

/** A counter: the seconds of estimates that are left in the queue. */
function remainingWork({ nodes, paths, estimates }: Timeline): TraceEvent[] {
  const left = new Set(paths.keys());
  let seconds = estimates.reduce<number>((sum, each) => sum + (each ?? 0), 0);
  const spans = nodes.flatMap(lane => lane.spans).sort((a, b) => a.from - b.from);
  return spans.map((span): TraceEvent => {
    for (const file of span.files) if (left.delete(file)) seconds -= estimates[file] ?? 0;
    const args = { seconds: Math.max(0, wholeMilliseconds(seconds)) };
    return { name: 'remaining work', ph: 'C', pid: PROCESS, tid: 0, ts: micros(span.from), args };
  });
}

function micros(seconds: number): number {
  return Math.round(seconds * 1e6);
}
