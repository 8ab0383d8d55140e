import type { Soon } from '../../../base/soon.js';
import type { SplitKey } from '../keys.js';
import type { Moment } from '../moment.js';
import type { NewPlan, PlanInfo, PlanParts } from './plans.js';
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
}

/** The assignment of test files to nodes. */
export type Split = PlanInfo;

export interface NewSplit extends NewPlan, Pick<PlanParts, 'nodeEnds'> {}

/** When a CI run first used a fixed split. */
export interface SplitUse extends Moment {
  /** Difference between a node's list in this CI run and the list of the split; missing: no list differed. */
  other_list?: string;
}
