import type { NodeLane, Span, Timeline } from '../timeline/timeline.js';

/** A file that a node ran in a span. */
export interface Execution {
  file: number;
  /** Its part of the span's busy time, in milliseconds. */
  milliseconds: number;
  /** The recorded seconds; NaN: none, so `milliseconds` is a part of the span by the estimates. */
  seconds: number;
  /** The file ran before, or this time was lost because the file ran elsewhere. */
  isRepeat: boolean;
}

/** A span with what the node ran in it. Its busy time is the sum of the executions. */
export interface Work {
  span: Span;
  executions: Execution[];
  /** Milliseconds of busy time for a millisecond of recorded time: less than 1 when the files took longer together than the span. */
  scale: number;
}

/** What a node ran, by span. */
export interface NodeWork {
  lane: NodeLane;
  works: Work[];
  /** It started and recorded nothing after its last files, and cannot be at work: what is left of the build is lost time. */
  isLost: boolean;
}

/** What the nodes of a timeline ran. Of the executions of a file, the first recorded one is work, and the others repeat it. */
export function executionsOf({ nodes, files, end, isRunning }: Timeline): NodeWork[] {
  const recorded = recordedFiles(nodes, files.paths.length);
  const worked = nodes.map((lane): NodeWork => {
    const spans = lane.start === null ? [] : lane.spans;
    const last = spans.at(-1);
    const isUnrecorded = last !== undefined && last.to > (lane.recordedAt ?? -Infinity);
    const isLost = isUnrecorded && !(isRunning && lane.end === end);
    return { lane, works: spans.map(span => workOf(span, recorded, files.estimates)), isLost };
  });
  markRepeats(worked, files.paths.length);
  return worked;
}

/** Has 1 for each file that some node recorded. */
function recordedFiles(nodes: readonly NodeLane[], count: number): Uint8Array {
  const recorded = new Uint8Array(count);
  for (const { start, spans } of nodes) {
    if (start === null) continue;
    for (const { files, seconds } of spans) for (const [i, file] of files.entries()) if (!Number.isNaN(seconds[i])) recorded[file] = 1;
  }
  return recorded;
}

function workOf(span: Span, recorded: Uint8Array, estimates: Float64Array): Work {
  const { from, to, files, seconds } = span;
  const length = to - from;
  const sum = 1000 * seconds.reduce((total, each) => (Number.isNaN(each) ? total : total + each), 0);
  if (!seconds.every(Number.isNaN)) {
    const scale = sum > length ? length / sum : 1;
    const ran = Array.from(files.keys()).filter(i => !Number.isNaN(seconds[i]));
    const executions = ran.map(i => ({ file: files[i]!, milliseconds: 1000 * seconds[i]! * scale, seconds: seconds[i]!, isRepeat: false }));
    return { span, executions, scale };
  }
  // Nothing tells how long each file took.
  const weights = Array.from(files, file => estimates[file] || 0);
  const total = weights.reduce((all, weight) => all + weight, 0);
  const part = (i: number) => (total > 0 ? weights[i]! / total : 1 / files.length);
  const executions = Array.from(files, (file, i) => {
    return { file, milliseconds: length * part(i), seconds: NaN, isRepeat: recorded[file] === 1 };
  });
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

export function sumOf(executions: readonly Execution[], isCounted: (execution: Execution) => boolean = () => true): number {
  return executions.reduce((sum, execution) => (isCounted(execution) ? sum + execution.milliseconds : sum), 0);
}
