import { type Basis, type FileBasis, fileBasis } from '../../../planning/estimating/basis.js';
import { decodeBasis } from '../../../planning/estimating/plan-basis.js';
import type { Store } from '../../ports/store.js';
import { refusals } from '../../refusal.js';
import type { SubjectRun } from '../subject.js';
import type { TimelineFiles } from '../timeline/timeline.js';

/** What the plan of a CI run knew of its files. */
export class PlanFiles {
  /** How many files were planned: the first ones of the timeline. */
  readonly count: number;
  /** Their indices. */
  readonly all: readonly number[];
  readonly #basis: Basis;

  constructor(
    readonly files: TimelineFiles,
    basis: Uint8Array,
  ) {
    let count = 0;
    while (count < files.paths.length && !Number.isNaN(files.estimates[count])) count += 1;
    this.count = count;
    this.all = Array.from({ length: count }, (_, file) => file);
    this.#basis = decodeBasis(basis, count).basis;
  }

  static async read({ queues, splits }: Store, { kind, plan }: SubjectRun, files: TimelineFiles): Promise<PlanFiles> {
    const basis = await (kind === 'queue' ? queues.basis(plan) : splits.basis({ id: plan }));
    if (!basis) throw refusals.expired(kind);
    return new PlanFiles(files, basis);
  }

  /** Most files were never measured. */
  get isGuessed(): boolean {
    return 2 * this.files.isGuess.reduce((sum, each) => sum + each, 0) > this.count;
  }

  /** Seconds. */
  estimate(file: number): number {
    return this.files.estimates[file]!;
  }

  basis(file: number): FileBasis {
    return fileBasis(this.#basis, file);
  }

  /** The estimates of files together. */
  weightOf(files: readonly number[]): number {
    return files.reduce((sum, file) => sum + this.estimate(file), 0);
  }
}
