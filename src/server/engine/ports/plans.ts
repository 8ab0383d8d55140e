import type { Segments } from '../../../base/bytes.js';
import type { Soon } from '../../../base/soon.js';
import type { FirstFiles } from '../../planning/batching/first-files.js';
import type { PathTimes } from '../../planning/estimating/estimate.js';
import type { Forecast } from '../../planning/forecasting/forecast.js';
import type { TestFileList } from '../suites/compare-lists.js';
import type { Suite } from '../suites/suite.js';
import type { Millis } from './store.js';

/** The files that splits and queues consist of. A plan never changes. */
export interface Plans {
  /** A part of the split or queue with an id; null: it has none, or expired. */
  part<Name extends keyof PlanParts>(plan: string, name: Name): Soon<PlanParts[Name] | null>;
  /**
   * Some files in UTF-8, as a JSON array of PlannedTestFile; null: the plan expired, or the split has no such node.
   *
   * @param which the node of a split, whose files are slowest first, or the files of a queue, at least one
   */
  files(plan: string, which: number | readonly number[]): Soon<Buffer | null>;
  /**
   * Encodes the files of a plan to create. Pure: any thread may call it.
   *
   * @param planned the files in the order of the plan, as indices; missing: all, slowest first
   */
  encode(files: PathTimes<Suite>, planned?: Uint32Array): Segments;
}

/** The parts of a plan besides its files. */
export interface PlanParts {
  forecast: Forecast;
  /** Basis of the estimates of its files, node by node for a split: see basis.ts. */
  basis: Uint8Array;
  /** Of a split: where the files of each node end. */
  nodeEnds: Uint32Array;
  /** Of a queue: the weights that its files were planned with (see weight.ts), in the order of the files. */
  weights: Float64Array;
  /** Of a queue that has files in pieces: see cuts.ts. */
  cuts: Uint8Array;
  /** Of a queue some of whose files go first. */
  first: FirstFiles;
}

/** A split or a queue, without what it consists of. */
export interface PlanInfo {
  id: string;
  node_total: number;
  created_at: Millis;
  /** Number of runs of its build that were recorded before the plan was made. */
  runs_before: number;
  /** The list of test files that it was made from. */
  list: TestFileList;
  /** Difference between a node's list and `list`; missing: no list differed. */
  other_list?: string;
  /** The plan expires by this time, which moves while the plan is in use. */
  used_at: Millis;
}

/** A split or a queue to create. */
export interface NewPlan extends Pick<PlanParts, 'forecast' | 'basis'> {
  list: TestFileList;
  /** Of a split node by node, of a queue slowest first. Made by `encode`. */
  files: Segments;
}
