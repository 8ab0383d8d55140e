import type { QueueAnswer } from '../messages/queue.js';
import { aroundFiles } from './around-files.js';
import { CONNECT_FAILED, type QueueEncoding } from './queue-encoding.js';

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
