import { fileOf } from '../../../planning/estimating/test-case.js';
import type { Timeline } from '../timeline/timeline.js';

/** How the files of a CI run ended. */
export interface FileOutcomes {
  /** The files that took longest, slowest first. */
  slowest: SlowFile[];
  /** Files that failed when they last ran. */
  failed: string[];
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
  const seconds = new Float64Array(count).fill(NaN);
  const ranOn = new Int32Array(count);
  const hadBy = new Int32Array(count).fill(-1);
  const hasFailed = new Uint8Array(count);
  const spans = nodes.flatMap(({ node_index, spans: own }) => own.map(span => ({ span, node_index })));
  for (const { span, node_index } of spans.sort((a, b) => a.span.from - b.span.from)) {
    const failed = span.failed && new Set(span.failed);
    for (const [i, file] of span.files.entries()) {
      hadBy[file] = node_index;
      if (failed) hasFailed[file] = failed.has(i) ? 1 : 0;
      const time = span.seconds[i]!;
      // NaN compares as false.
      if (Number.isNaN(time) || time <= seconds[file]!) continue;
      seconds[file] = time;
      ranOn[file] = node_index;
    }
  }
  const indices = Array.from(files.paths.keys());
  const ran = indices.filter(file => seconds[file]! > 0).sort((a, b) => seconds[b]! - seconds[a]! || a - b);
  const ranAsCases = casesRecorded(files.paths, seconds);
  const isMissing = (file: number) => Number.isNaN(seconds[file]) && !ranAsCases.has(files.paths[file]!);
  return {
    slowest: ran.slice(0, most).map(file => ({ file, seconds: seconds[file]!, node_index: ranOn[file]! })),
    failed: indices.filter(file => hasFailed[file] === 1).map(file => files.paths[file]!),
    missing: indices.filter(isMissing).map(file => ({ path: files.paths[file]!, node_index: hadBy[file]! < 0 ? null : hadBy[file]! })),
  };
}

/** The files of which some node recorded a test case. */
function casesRecorded(paths: readonly string[], seconds: Float64Array): Set<string> {
  return new Set(paths.flatMap((path, file) => (Number.isNaN(seconds[file]) ? [] : (fileOf(path) ?? []))));
}
