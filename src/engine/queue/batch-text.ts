import { limits } from '../../limits.js';
import type { Batch, CasesByFile } from './batch.js';
import type { Failed } from './failed.js';

/** Counts the characters from clients in the batches of a queue. Test cases beyond the limit are not kept: their whole files run again. */
export class BatchText {
  #uuids = 0;
  #cases = 0;

  get characters(): number {
    return this.#uuids + this.#cases;
  }

  add(batch: Batch): void {
    this.#uuids += uuidOf(batch);
    this.#cases += casesOf(batch);
  }

  /** Sets the failures of an added batch. Their test cases are kept if there is room. */
  addFailed(batch: Batch, { failed, failed_cases: cases }: Failed): Batch {
    batch.failed = failed;
    if (!cases || !this.hasRoomFor(cases)) return batch;
    batch.failed_cases = cases;
    this.#cases += charactersIn(cases);
    return batch;
  }

  remove(batch: Batch): void {
    this.#uuids -= uuidOf(batch);
    this.#cases -= casesOf(batch);
  }

  hasRoomFor(cases: CasesByFile): boolean {
    return this.#cases + charactersIn(cases) <= limits.failedCaseCharactersPerQueue;
  }
}

function uuidOf({ batch_uuid }: Batch): number {
  return batch_uuid?.length ?? 0;
}

function casesOf({ cases, failed_cases }: Batch): number {
  return charactersIn(cases) + charactersIn(failed_cases);
}

function charactersIn(cases: CasesByFile | undefined): number {
  let sum = 0;
  if (cases) for (const [, paths] of cases) for (const path of paths) sum += path.length;
  return sum;
}
