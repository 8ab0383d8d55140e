import { type Basis, type FileBasis, fileBasis } from '../../../planning/estimating/basis.js';
import { decodeBasis } from '../../../planning/estimating/plan-basis.js';
import type { Store } from '../../ports/store.js';
import type { SubjectRun } from '../subject.js';
import type { TimelineFiles } from '../timeline/timeline.js';

/** What the plan of a CI run knew of its files. A plan of an older Ballast did not keep what its estimates rest on. */
export class PlanFiles {
  /** How many files were planned: the first ones of the timeline. */
  readonly count: number;
  /** Their indices. */
  readonly all: readonly number[];
  readonly #basis: Basis | null;

  constructor(
    readonly files: TimelineFiles,
    basis: Uint8Array | null,
  ) {
    let count = 0;
    while (count < files.paths.length && (!Number.isNaN(files.estimates[count]) || files.isGuess[count] === 1)) count += 1;
    this.count = count;
    this.all = Array.from({ length: count }, (_, file) => file);
    this.#basis = basis && decodeBasis(basis, count).basis;
  }

  static async read({ queues, splits }: Store, { kind, plan }: SubjectRun, files: TimelineFiles): Promise<PlanFiles> {
    return new PlanFiles(files, await (kind === 'queue' ? queues.basis(plan) : splits.basis({ id: plan })));
  }

  /** Most files were never measured. */
  get isGuessed(): boolean {
    return 2 * this.files.isGuess.reduce((sum, each) => sum + each, 0) > this.count;
  }

  /** Seconds; NaN: a guess that was not kept. */
  estimate(file: number): number {
    return this.files.estimates[file]!;
  }

  basis(file: number): FileBasis {
    return this.#basis ? fileBasis(this.#basis, file) : { source: null, count: null, spread: null };
  }

  /** The estimates of files together; NaN: one of them was not kept. */
  weightOf(files: readonly number[]): number {
    return files.reduce((sum, file) => sum + this.estimate(file), 0);
  }
}
