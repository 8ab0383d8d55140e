import { decodeFiles } from '../../engine/planned-files.js';
import type { QueueInfo } from '../../engine/ports/queues.js';
import type { Batch } from '../../engine/queue/batch.js';
import type { Pulled, QueueRequest } from '../../engine/queues.js';
import type { PlannedTestFile } from '../../engine/test-file.js';
import type { Answer } from '../../http/request.js';
import { aroundFiles, json } from '../json.js';
import type { ConnectFailed, QueueAnswer } from '../messages/queue.js';
import type { TestQueueAnswer } from '../messages/test-queue.js';

/** How a version of the protocol encodes the outcome of a pull. */
export interface QueueEncoding {
  job: 'prepareQueue' | 'prepareTestQueue';
  /** The parameter that names the CI run. */
  ciRun: 'node_build_id' | 'test_queue_id';
  connectFailed(request: QueueRequest): ConnectFailed;
  /**
   * The end of the queue, or the answer to a request that takes nothing.
   * @param url the address of the build; null: the request was to take a batch
   * @param echo the fields of the request that the answer repeats
   */
  empty(pulled: Pulled, url: string | null, echo: object | null): object;
  /** @param files the files of the batch, as a JSON array */
  batch(queue: QueueInfo, batch: Batch, files: Buffer, echo: object | null): Answer;
  textHeaders(batch: Batch): Record<string, string> | undefined;
}

/** The code tells clients to send their test files. */
export const CONNECT_FAILED: ConnectFailed = {
  message: 'There is no queue for this build yet: send the test files to initialise it.',
  code: 'ATTEMPT_CONNECT_TO_QUEUE_FAILED',
};

/** The files of a batch. A file is replaced by its failed test cases if only they are to run. */
export function filesToRun({ files: indices, cases }: Batch, files: Buffer): PlannedTestFile[] {
  const all = decodeFiles(files);
  if (!cases) return all;
  const casesOf = new Map(cases);
  return all.flatMap((file, i) => casesOf.get(indices[i]!)?.map(path => ({ path, time_execution: null })) ?? [file]);
}

export const version1: QueueEncoding = {
  job: 'prepareQueue',
  ciRun: 'node_build_id',
  connectFailed: ({ key }) => ({ queue_name: key.digest, ...CONNECT_FAILED }),
  empty: ({ queue, isNewQueue }, url): QueueAnswer => ({
    queue_name: queue.name,
    build_subset_id: null,
    test_files: [],
    ...(url !== null && !isNewQueue && { url }),
  }),
  // A batch that repeats a recorded run does not belong to the queue.
  batch: ({ name }, { build_subset_id }, files) => ({
    status: 200,
    body: files,
    around: aroundFiles({ queue_name: build_subset_id === null ? name : null, build_subset_id }),
  }),
  textHeaders: () => undefined,
};

export const version2: QueueEncoding = {
  job: 'prepareTestQueue',
  ciRun: 'test_queue_id',
  connectFailed: () => CONNECT_FAILED,
  empty: (_, url, echo): TestQueueAnswer => ({ paths: [], batch_id: null, ...echo, ...(url !== null && { url }) }),
  batch(_, batch, encoded, echo) {
    const files = filesToRun(batch, encoded);
    const times = echo && { times: files.map(({ time_execution }) => time_execution) };
    const answer: TestQueueAnswer = { paths: files.map(({ path }) => path), batch_id: batch.seq, ...times, ...echo };
    return json(200, answer);
  },
  textHeaders: ({ seq }) => ({ 'X-Ballast-Batch-Id': String(seq) }),
};
