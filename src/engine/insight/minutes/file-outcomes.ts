import { fileOf } from '../../../planning/estimating/test-case.js';
import type { Timeline } from '../timeline/timeline.js';

/** How the files of a CI run ended. */
export interface FileOutcomes {
  /** The files that took longest, slowest first. */
  slowest: SlowFile[];
  /** The sum of the recorded seconds: of each file, those of its last run. */
  total: number;
  /** Files that failed when they last ran; null: the clients do not report it. */
  failed: string[] | null;
  /** Planned files that no node recorded, and the node that had them last; null: they are in the queue. */
  missing: { path: string; node_index: number | null }[];
}

export interface SlowFile {
  file: number;
  /** Its longest recorded time. */
  seconds: number;
  node_index: number;
}

/** @param most how many slow files are returned */
export function fileOutcomes({ nodes, files }: Timeline, most: number): FileOutcomes {
  const count = files.paths.length;
  const longest = new Float64Array(count).fill(NaN);
  const last = new Float64Array(count);
  const ranOn = new Int32Array(count);
  const hadBy = new Int32Array(count).fill(-1);
  const hasFailed = new Uint8Array(count);
  let isFailureKnown = false;
  const spans = nodes.flatMap(({ node_index, spans: own }) => own.map(span => ({ span, node_index })));
  for (const { span, node_index } of spans.sort((a, b) => a.span.from - b.span.from)) {
    const failed = span.failed && new Set(span.failed);
    isFailureKnown ||= failed !== null;
    for (const [i, file] of span.files.entries()) {
      hadBy[file] = node_index;
      if (failed) hasFailed[file] = failed.has(i) ? 1 : 0;
      const time = span.seconds[i]!;
      if (Number.isNaN(time)) continue;
      last[file] = time;
      // NaN compares as false.
      if (time <= longest[file]!) continue;
      longest[file] = time;
      ranOn[file] = node_index;
    }
  }
  const indices = Array.from(files.paths.keys());
  const ran = indices.filter(file => longest[file]! > 0).sort((a, b) => longest[b]! - longest[a]! || a - b);
  const ranAsCases = casesRecorded(files.paths, longest);
  const isMissing = (file: number) => Number.isNaN(longest[file]) && !ranAsCases.has(files.paths[file]!);
  return {
    slowest: ran.slice(0, most).map(file => ({ file, seconds: longest[file]!, node_index: ranOn[file]! })),
    total: last.reduce((sum, each) => sum + each, 0),
    failed: isFailureKnown ? indices.filter(file => hasFailed[file] === 1).map(file => files.paths[file]!) : null,
    missing: indices.filter(isMissing).map(file => ({ path: files.paths[file]!, node_index: hadBy[file]! < 0 ? null : hadBy[file]! })),
  };
}

/** The files of which some node recorded a test case. */
function casesRecorded(paths: readonly string[], seconds: Float64Array): Set<string> {
  return new Set(paths.flatMap((path, file) => (Number.isNaN(seconds[file]) ? [] : (fileOf(path) ?? []))));
}
