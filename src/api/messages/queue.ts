import typia from 'typia';
import type { NodeKey } from './build-key.js';
import { checkNodeIndex } from './build-subset.js';
import { coerce, type RawParameters } from './coerce.js';
import type { People } from './people.js';
import type { ListedTestFile, PlannedTestFile, TestFileList } from './test-file.js';
import type { Text, Uuid } from './text.js';
import { PARAMETER_REQUIRED, requireValid } from './validation.js';

/** POST /queues/queue */
export interface QueueMessage extends NodeKey, People {
  can_initialize_queue: boolean;
  attempt_connect_to_queue: boolean;
  fixed_queue_split: boolean;
  node_build_id: Text;
  test_files?: TestFileList<ListedTestFile>;
  /** Newer clients: the same uuid from the same node asks for the same batch again. */
  batch_uuid?: Text;
  /** Create or connect, but take no batch. */
  skip_pull: boolean;
}

/** A batch; none in `test_files`: the end of the queue. */
export interface QueueAnswer {
  /** Null: the batch repeats a recorded subset. */
  queue_name: string | null;
  /** With fixed_queue_split: the recorded subset that the batch repeats. */
  build_subset_id: Uuid | null;
  test_files: PlannedTestFile[];
  /** Where the build is seen, when skip_pull found its queue there. */
  url?: string;
}

/** There is no queue yet: the test files are to be sent. */
export interface ConnectFailed {
  queue_name?: string;
  message: string;
  code: 'ATTEMPT_CONNECT_TO_QUEUE_FAILED';
}

const names = typia.misc.literals<keyof QueueMessage>();
const validate = typia.createValidate<QueueMessage>();

/** True for the one kind of request that brings the list of all test files. */
export function isInitialization(message: Partial<QueueMessage>): boolean {
  return message.can_initialize_queue === true && message.attempt_connect_to_queue === false;
}

export function toQueueMessage(sent: RawParameters): QueueMessage {
  const parameters = coerce(sent, names);
  parameters.fixed_queue_split ??= false;
  parameters.skip_pull ??= false;
  if (parameters.batch_uuid === '') delete parameters.batch_uuid;
  // Old clients know no attempt_connect_to_queue: they send the list at once, and later pulls
  // (where it is not considered) without either.
  if (parameters.test_files !== undefined || parameters.can_initialize_queue === false) {
    parameters.attempt_connect_to_queue ??= false;
  }
  return requireValid(validate(parameters), message => {
    const complaints = checkNodeIndex(message);
    if (isInitialization(message) && !message.test_files?.length) complaints.test_files = [PARAMETER_REQUIRED];
    return complaints;
  });
}
