import type { CutText } from '../../../engine/segments.js';
import type { PlannedTestFile } from '../../../engine/test-file.js';
import type { PathTimes } from '../../../planning/estimating/estimate.js';

/** The JSON of planned test files, slowest first, each with a comma before it: a list of some of them is a join. */
export function plannedFiles({ paths, seconds }: PathTimes): CutText {
  const ends = new Uint32Array(paths.length);
  if (paths.length === 0) return { text: '', ends };
  const list = JSON.stringify(paths.map((path, i) => toPlanned(path, seconds[i]!)));
  const text = `,${list.slice(1, -1)}`;
  // Encoding them one by one takes twice as long. A path may end with },{ but a comma follows its closing quote.
  for (let file = 0, at = 0; file < ends.length - 1; file++) ends[file] = at = text.indexOf('},{"p', at) + 1;
  ends[ends.length - 1] = text.length;
  return { text, ends };
}

function toPlanned(path: string, seconds: number): PlannedTestFile {
  return { path, time_execution: Number.isNaN(seconds) ? null : seconds };
}
