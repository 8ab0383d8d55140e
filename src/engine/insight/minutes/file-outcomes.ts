import { fileOf } from '../../../planning/estimating/test-case.js';
import type { Timeline } from '../timeline/timeline.js';
import type { MinutesAnswer, SlowFile } from './minutes-answer.js';

/** How the files of a CI run ended. */
export interface FileOutcomes extends Pick<MinutesAnswer, 'missing'> {
  /** The files that took longest, slowest first. */
  slowest: SlowFile[];
  /** Files that failed when they last ran; null: the clients do not report it. */
  failed: string[] | null;
}

/** @param most how many slow files are returned */
export function fileOutcomes({ nodes, paths, estimates, is_guess }: Timeline, most: number): FileOutcomes {
  /** By file: the longest of its recorded times, and the node with it. */
  const longest = new Map<number, { seconds: number; node_index: number }>();
  const hadBy = new Map<number, number>();
  const hasFailed = new Map<number, boolean>();
  /** The gate counts these, too: their node reported that they passed, and has recorded since. */
  const passed = new Set<number>();
  const spans = nodes.flatMap(({ node_index, recordedAt, spans: own }) => own.map(span => ({ span, node_index, recordedAt })));
  for (const { span, node_index, recordedAt } of spans.sort((a, b) => a.span.from - b.span.from)) {
    const failed = span.failed && new Set(span.failed);
    for (const [i, file] of span.files.entries()) {
      hadBy.set(file, node_index);
      if (failed) hasFailed.set(file, failed.has(file));
      if (failed && !failed.has(file) && recordedAt !== null && recordedAt >= span.to) passed.add(file);
      const seconds = span.seconds[i] ?? null;
      if (seconds !== null && seconds > (longest.get(file)?.seconds ?? -1)) longest.set(file, { seconds, node_index });
    }
  }
  const indices = [...paths.keys()];
  const ran = [...longest].filter(([, { seconds }]) => seconds > 0).sort(([a, x], [b, y]) => y.seconds - x.seconds || a - b);
  const ranAsCases = new Set([...longest.keys()].map(file => fileOf(paths[file]!)));
  const missing = indices.filter(file => !longest.has(file) && !passed.has(file) && !ranAsCases.has(paths[file]!));
  return {
    slowest: ran.slice(0, most).map(([file, { seconds, node_index }]) => {
      return { path: paths[file]!, seconds, estimate: estimates[file]!, is_guess: is_guess[file] === 1, node_index };
    }),
    failed: nodes.some(({ spans: own }) => own.some(({ failed }) => failed !== null))
      ? indices.filter(file => hasFailed.get(file)).map(file => paths[file]!)
      : null,
    missing: missing.map(file => ({ path: paths[file]!, node_index: hadBy.get(file) ?? null })),
  };
}
