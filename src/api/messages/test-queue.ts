import typia from 'typia';
import type { Count } from '../../scalars.js';
import type { NodeKey, People } from './build-key.js';
import { isInitialization } from './queue.js';
import type { TestFileList } from './test-file.js';
import type { FailedPath, Path, Text } from './text.js';
import { checkNodeIndex, PARAMETER_REQUIRED, reader } from './validation.js';

/** POST /v2/queues/queue: each pull reports the outcome of the previous batch. */
export interface TestQueueMessage extends NodeKey, People {
  can_initialize_queue: boolean;
  attempt_connect_to_queue: boolean;
  /** Id of the queue: the same for all nodes of a CI run, also when some of them are retried. */
  test_queue_id: Text;
  /** Id of the client's process. */
  node_uuid: Text;
  /** Counter of the process. The same value requests the same batch again. */
  batch_index: Count;
  /** All test files, to create the queue. */
  paths?: TestFileList<Path>;
  /**
   * SHA-256, in hex, of the distinct paths of all test files, sorted by UTF-16 code units, with a NUL after each. If the queue was
   * made from another list, connecting fails, and a request with the list, or a pull, gets a 409.
   */
  test_files_digest?: Text;
  /** Id of the batch that the node has run. */
  batch_id?: Count;
  /** What failed in that batch: test files, or test cases in them. */
  failed_paths?: TestFileList<FailedPath>;
  /** Creates the queue or connects to it, without pulling a batch. */
  skip_pull?: boolean;
  /** Requests `times`, `node_uuid` and `batch_index` in the answer. */
  wants_times?: boolean;
}

/** A batch. Empty `paths` are the end of the queue. */
export interface TestQueueAnswer {
  paths: string[];
  /** Null at the end of the queue. */
  batch_id: Count | null;
  /** Expected time of each path in seconds, null if unknown. Only if the request has `wants_times`. */
  times?: (number | null)[];
  /** From the request, if it has `wants_times`. */
  node_uuid?: string;
  batch_index?: Count;
  /** Address of the build, if the request has skip_pull. */
  url?: string;
}

export const toTestQueueMessage = reader(typia.misc.literals<keyof TestQueueMessage>(), typia.createValidate<TestQueueMessage>(), {
  check(message) {
    const errors = checkNodeIndex(message);
    if (isInitialization(message) && !message.paths?.length) errors.paths = [PARAMETER_REQUIRED];
    return errors;
  },
});
