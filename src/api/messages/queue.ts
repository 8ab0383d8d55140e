import typia from 'typia';
import type { Uuid } from '../../scalars.js';
import type { NodeKey, People } from './build-key.js';
import type { ListedTestFile, PlannedTestFile, TestFileList } from './test-file.js';
import type { Text } from './text.js';
import { checkNodeIndex, PARAMETER_REQUIRED, reader } from './validation.js';

/** POST /queues/queue */
export interface QueueMessage extends NodeKey, People {
  can_initialize_queue: boolean;
  attempt_connect_to_queue: boolean;
  /** Default: false. */
  fixed_queue_split: boolean;
  node_build_id: Text;
  test_files?: TestFileList<ListedTestFile>;
  /** Sent by newer clients: the same uuid from the same node requests the same batch again. */
  batch_uuid?: Text;
  /** Creates the queue or connects to it, without pulling a batch. Default: false. */
  skip_pull: boolean;
}

/** A batch. An empty `test_files` is the end of the queue. */
export interface QueueAnswer {
  /** Null if the batch repeats a recorded subset. */
  queue_name: string | null;
  /** With fixed_queue_split, the recorded subset that the batch repeats. */
  build_subset_id: Uuid | null;
  test_files: PlannedTestFile[];
  /** Address of the build, if skip_pull found its queue. */
  url?: string;
}

/** There is no queue yet. The client must send the test files. */
export interface ConnectFailed {
  queue_name?: string;
  message: string;
  code: 'ATTEMPT_CONNECT_TO_QUEUE_FAILED';
}

/** Tells whether the request carries the list of all test files, to create the queue. */
export function isInitialization(message: Partial<QueueMessage>): boolean {
  return message.can_initialize_queue === true && message.attempt_connect_to_queue === false;
}

export const toQueueMessage = reader(typia.misc.literals<keyof QueueMessage>(), typia.createValidate<QueueMessage>(), {
  complete(parameters) {
    parameters.fixed_queue_split ??= false;
    parameters.skip_pull ??= false;
    if (parameters.batch_uuid === '') delete parameters.batch_uuid;
    // Old clients do not know attempt_connect_to_queue. They send the list at once, and pull without either.
    if (parameters.test_files !== undefined || parameters.can_initialize_queue === false) {
      parameters.attempt_connect_to_queue ??= false;
    }
  },
  check(message) {
    const errors = checkNodeIndex(message);
    if (isInitialization(message) && !message.test_files?.length) errors.test_files = [PARAMETER_REQUIRED];
    return errors;
  },
});
