import { json } from '../json.js';
import type { TestQueueAnswer } from '../messages/test-queue.js';
import { CONNECT_FAILED, filesToRun, type QueueEncoding } from './queue-encoding.js';

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
