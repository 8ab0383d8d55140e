import { limits } from '../../limits.js';
import type { Batch, CasesByFile } from './batch.js';
import type { Failed } from './failed.js';

/** Counts the characters from clients in the batches of a queue. Test cases beyond the limit are not kept: their whole files run again. */
export class BatchText {
  /** Of uuids and test cases. */
  characters = 0;
  #ofCases = 0;

  add(batch: Batch): void {
    this.#count(batch, 1);
  }

  remove(batch: Batch): void {
    this.#count(batch, -1);
  }

  /** Sets the failures of an added batch. Their test cases are kept if there is room. */
  addFailed(batch: Batch, { failed, failed_cases: cases }: Failed): Batch {
    const keepsCases = cases && this.hasRoomFor(cases);
    this.remove(batch);
    batch.failed = failed;
    if (keepsCases) batch.failed_cases = cases;
    this.add(batch);
    return batch;
  }

  hasRoomFor(cases: CasesByFile): boolean {
    return this.#ofCases + charactersIn(cases) <= limits.failedCaseCharactersPerQueue;
  }

  #count({ batch_uuid, cases, failed_cases }: Batch, sign: 1 | -1): void {
    const ofCases = charactersIn(cases) + charactersIn(failed_cases);
    this.#ofCases += sign * ofCases;
    this.characters += sign * (ofCases + (batch_uuid?.length ?? 0));
  }
}

function charactersIn(cases: CasesByFile = []): number {
  return cases.reduce((sum, [, paths]) => paths.reduce((ofFile, { length }) => ofFile + length, sum), 0);
}
