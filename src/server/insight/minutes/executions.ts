import type { NodeLane, Span, Timeline, TimelineFiles } from '../timeline/timeline.js';

/** A file that a node ran in a span. Durations are seconds. */
export interface Execution {
  file: number;
  /** Its part of the span's busy time. */
  busy: number;
  /** Recorded seconds; null: nothing was recorded, so `busy` is a part of the span by the estimates. */
  seconds: number | null;
  /** The file ran before, or this time was lost because the file ran elsewhere. */
  isRepeat: boolean;
}

/** A span with what the node ran in it. Its busy time is the sum of the executions. */
export interface Work {
  span: Span;
  executions: Execution[];
  /** Seconds of busy time for a recorded second: less than 1 when the files took longer together than the span. */
  scale: number;
}

/** The executions of a node, by span. */
export interface NodeWork {
  lane: NodeLane;
  works: Work[];
  /** True if the node started, recorded nothing after its last files, and cannot be at work: the rest of the build is lost time. */
  isLost: boolean;
}

/** Lists the executions of the nodes of a timeline. Of the executions of a file, the first recorded one is work, and the others repeat it. */
export function executionsOf({ nodes, paths, estimates, wall, is_running }: Timeline): NodeWork[] {
  const recorded = recordedFiles(nodes, paths.length);
  const worked = nodes.map((lane): NodeWork => {
    const spans = lane.start === null ? [] : lane.spans;
    const last = spans.at(-1);
    const isUnrecorded = last !== undefined && last.to > (lane.recordedAt ?? -Infinity);
    const isLost = isUnrecorded && !(is_running && lane.end === wall);
    return { lane, works: spans.map(span => workOf(span, recorded, estimates)), isLost };
  });
  markRepeats(worked, paths.length);
  return worked;
}

/** Has 1 for each file that some node recorded. */
function recordedFiles(nodes: readonly NodeLane[], count: number): Uint8Array {
  const recorded = new Uint8Array(count);
  for (const { start, spans } of nodes) {
    if (start === null) continue;
    for (const { files, seconds } of spans) for (const [i, file] of files.entries()) if (seconds[i] !== null) recorded[file] = 1;
  }
  return recorded;
}

function workOf(span: Span, recorded: Uint8Array, estimates: TimelineFiles['estimates']): Work {
  const { from, to, files, seconds } = span;
  const length = to - from;
  const ran = files.flatMap((file, i) => (seconds[i] === null ? [] : [{ file, seconds: seconds[i]! }]));
  if (ran.length > 0) {
    const sum = ran.reduce((total, each) => total + each.seconds, 0);
    const scale = sum > length ? length / sum : 1;
    return { span, executions: ran.map(each => ({ ...each, busy: each.seconds * scale, isRepeat: false })), scale };
  }
  // Nothing tells how long each file took.
  const weights = files.map(file => estimates[file] ?? 0);
  const total = weights.reduce((all, weight) => all + weight, 0);
  const part = (i: number) => (total > 0 ? weights[i]! / total : 1 / files.length);
  const executions = files.map((file, i) => ({ file, busy: length * part(i), seconds: null, isRepeat: recorded[file] === 1 }));
  return { span, executions, scale: 1 };
}

function markRepeats(nodes: readonly NodeWork[], count: number): void {
  const hasRun = new Uint8Array(count);
  const works = nodes.flatMap((node, index) => node.works.map(work => ({ work, index })));
  works.sort((a, b) => a.work.span.from - b.work.span.from || a.index - b.index);
  for (const { work } of works) {
    for (const execution of work.executions) {
      if (execution.isRepeat) continue;
      execution.isRepeat = hasRun[execution.file] === 1;
      hasRun[execution.file] = 1;
    }
  }
}

/** The busy time of executions. */
export function busyTime(executions: readonly Execution[], isCounted: (execution: Execution) => boolean = () => true): number {
  return executions.reduce((sum, execution) => (isCounted(execution) ? sum + execution.busy : sum), 0);
}
