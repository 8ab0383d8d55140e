import type { MinutesAnswer, SlowFile } from '../../../protocol/answers/minutes.js';
import { fileOf } from '../../../protocol/test-case.js';
import type { Timeline, TimelineFiles } from '../timeline/timeline.js';

/** Outcomes of the files of a CI run. */
export interface FileOutcomes extends Pick<MinutesAnswer, 'missing'> {
  /** The files that took longest, slowest first. */
  slowest: SlowFile[];
  /** Files that failed when they last ran; null: the clients do not report it. */
  failed: MinutesAnswer['failed'] | null;
  /** Files that failed, and passed when they last ran. */
  flaky: MinutesAnswer['failed'];
  /** Files that no node has recorded or reported. */
  open: string[];
}

const NONE = -1;

/** @param most how many slow files are returned */
export function fileOutcomes(
  { nodes, paths, estimates, is_guess }: Pick<Timeline, 'nodes' | keyof TimelineFiles>,
  most: number,
): FileOutcomes {
  // By file. The times are the longest that were recorded, with their nodes.
  const longest = new Float64Array(paths.length).fill(NONE);
  const longestBy = new Int32Array(paths.length);
  const hadBy = new Int32Array(paths.length).fill(NONE);
  const hasFailed = new Uint8Array(paths.length);
  /** It failed in any span. */
  const everFailed = new Uint8Array(paths.length);
  const isMuted = new Uint8Array(paths.length);
  /** The gate counts these, too: their node reported that they passed, and has recorded since. */
  const passed = new Uint8Array(paths.length);
  const hasEnded = new Uint8Array(paths.length);
  let isReported = false;
  const spans = nodes.flatMap(({ node_index, recordedAt, spans: own }) => own.map(span => ({ span, node_index, recordedAt })));
  for (const { span, node_index, recordedAt } of spans.sort((a, b) => a.span.from - b.span.from)) {
    const failed = span.failed && new Set(span.failed);
    isReported ||= failed !== null;
    for (const [i, file] of span.files.entries()) {
      hadBy[file] = node_index;
      if (failed) hasFailed[file] = Number(failed.has(file));
      // A node that is cancelled reports what it did not run.
      if (failed?.has(file) && span.lease !== 'cancelled') everFailed[file] = 1;
      if (failed) isMuted[file] = Number(span.muted?.includes(file) ?? false);
      if (failed || span.seconds[i] !== null) hasEnded[file] = 1;
      if (failed && !failed.has(file) && recordedAt !== null && recordedAt >= span.to) passed[file] = 1;
      const seconds = span.seconds[i] ?? NONE;
      if (seconds <= longest[file]!) continue;
      longest[file] = seconds;
      longestBy[file] = node_index;
    }
  }
  const filesWhere = (is: (file: number) => boolean) => {
    const files: number[] = [];
    for (let file = 0; file < paths.length; file++) if (is(file)) files.push(file);
    return files;
  };
  const withNode = (file: number) => ({ path: paths[file]!, node_index: hadBy[file] === NONE ? null : hadBy[file]! });
  const toFailed = (file: number) => ({ ...withNode(file), ...(isMuted[file] === 1 && { is_muted: true as const }) });
  const ran = most === 0 ? [] : filesWhere(file => longest[file]! > 0).sort((a, b) => longest[b]! - longest[a]! || a - b);
  const absent = filesWhere(file => longest[file] === NONE && passed[file] === 0);
  const ranAsCases = new Set(absent.length === 0 ? [] : filesWhere(file => longest[file] !== NONE).map(file => fileOf(paths[file]!)));
  return {
    slowest: ran.slice(0, most).map(file => {
      const [path, seconds, estimate] = [paths[file]!, longest[file]!, estimates[file]!];
      return { path, seconds, estimate, is_guess: is_guess[file] === 1, node_index: longestBy[file]! };
    }),
    // Of no files none failed.
    failed: isReported || paths.length === 0 ? filesWhere(file => hasFailed[file] === 1).map(toFailed) : null,
    flaky: filesWhere(file => everFailed[file] === 1 && hasFailed[file] === 0).map(withNode),
    open: filesWhere(file => hasEnded[file] === 0).map(file => paths[file]!),
    missing: absent.filter(file => !ranAsCases.has(paths[file]!)).map(withNode),
  };
}
