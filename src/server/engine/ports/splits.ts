import type { Segments } from '../../../base/bytes.js';
import type { Soon } from '../../../base/soon.js';
import type { PathTimes } from '../../planning/estimating/estimate.js';
import type { Forecast } from '../../planning/forecasting/forecast.js';
import type { SplitKey } from '../keys.js';
import type { Moment } from '../moment.js';
import type { TestFileList } from '../suites/compare-lists.js';
import type { Suite } from '../suites/suite.js';
import type { Millis } from './store.js';

/** Splits of regular mode, each found under the key of its request. */
export interface Splits {
  /** The split under a key. Waits for a creation under way. */
  find(key: SplitKey): Soon<Split | null>;
  /** Creates a split. Of concurrent calls with the same key, one wins, and all callers get its split. */
  create(key: SplitKey, split: NewSplit, at: Millis): Promise<Split>;
  /** Keeps a split in use from expiring, and notes the first use of a fixed split by a CI run. Writes nothing that is noted already. */
  use(key: SplitKey, split: Split, at: Millis): Soon<void>;
  /** Notes that a node of the CI run sent another list of test files, unless that is noted already. */
  noteOtherList(key: SplitKey, split: Split, difference: string, at: Millis): Promise<void>;
  /** When a CI run first used a fixed split; null: it never did. */
  firstUse(split: Split, ci_run: string): Soon<SplitUse | null>;
  /** The files of a node in UTF-8, as a JSON array of PlannedTestFile, slowest first; null: the split expired. */
  files(split: Pick<Split, 'id'>, node_index: number): Soon<Buffer | null>;
  forecast(split: Pick<Split, 'id'>): Soon<Forecast | null>;
  /** What the estimates of its files, node by node, rest on, see basis.ts; null: the split expired. */
  basis(split: Pick<Split, 'id'>): Soon<Uint8Array | null>;
  /** Encodes the files of each node (indices into the estimates) for `create`. Pure: any thread may call it. */
  encode(files: PathTimes<Suite>, nodes: readonly (readonly number[])[]): Segments;
}

/** A split or a queue, without its files. */
export interface PlanInfo {
  id: string;
  node_total: number;
  created_at: Millis;
  /** How many runs of its build were recorded before it was made. */
  runs_before: number;
  /** The list of test files that it was made from. */
  list: TestFileList;
  /** How a node's list differed from `list`; missing: no list differed. */
  other_list?: string;
  /** It expires by this time, which moves while it is in use. */
  used_at: Millis;
}

/** Which node runs which test files. */
export type Split = PlanInfo;

/** A split or a queue to create. */
export interface NewPlan {
  list: TestFileList;
  /** Of a split, the files of each node; of a queue, all files, slowest first. Made by `encode`. */
  files: Segments;
  /** What the estimates of these files rest on, see basis.ts. */
  basis: Uint8Array;
  forecast: Forecast;
}

export type NewSplit = NewPlan;

/** When a CI run first used a fixed split. */
export interface SplitUse extends Moment {
  /** How the list of a node in this CI run differed from the list of the split; missing: no list differed. */
  other_list?: string;
}
