import typia, { type tags } from 'typia';
import type { limits } from '../../limits.js';
import type { NodeKey } from './build-key.js';
import { checkNodeIndex } from './build-subset.js';
import { coerce, type RawParameters } from './coerce.js';
import type { People } from './people.js';
import { isInitialization } from './queue.js';
import type { TestFileList } from './test-file.js';
import type { Count, Path, Text } from './text.js';
import { PARAMETER_REQUIRED, requireValid } from './validation.js';

/** POST /v2/queues/queue: a pull tells what became of the batch before. */
export interface TestQueueMessage extends NodeKey, People {
  can_initialize_queue: boolean;
  attempt_connect_to_queue: boolean;
  /** The same for all nodes of a CI run, and when some of them are run again. */
  test_queue_id: Text;
  /** Of the client's process. */
  node_uuid: Text;
  /** Counted by the process: the same again asks for the same batch again. */
  batch_index: Count;
  /** All test files, where it initialises. */
  paths?: TestFileList<Path>;
  /**
   * SHA-256, in hex, of the distinct paths of all test files, sorted by UTF-16 code units, with a NUL after each. If the queue was
   * made of another list, connecting fails, and a request with the list, or a pull, gets a 409.
   */
  test_files_digest?: Text;
  /** The batch that it ran, and what of that failed: files, or test cases in them. */
  batch_id?: Count;
  failed_paths?: TestFileList<string & tags.MaxLength<typeof limits.pathMaxCharacters>>;
  /** Create or connect, but take no batch. */
  skip_pull?: boolean;
  /** The answer then has `times`, the expected time of each file or null if unknown, and names the request that it answers. */
  wants_times?: boolean;
}

/** A batch; no paths: the end of the queue. */
export interface TestQueueAnswer {
  paths: string[];
  /** Null at the end. */
  batch_id: Count | null;
  /** Of each path, where the request wants them; null: no timing is known. */
  times?: (number | null)[];
  /** From the request, if `wants_times` is set. */
  node_uuid?: string;
  batch_index?: Count;
  /** Where the build is seen, when skip_pull took nothing. */
  url?: string;
}

const names = typia.misc.literals<keyof TestQueueMessage>();
const validate = typia.createValidate<TestQueueMessage>();

export function toTestQueueMessage(sent: RawParameters): TestQueueMessage {
  return requireValid(validate(coerce(sent, names)), message => {
    const complaints = checkNodeIndex(message);
    if (isInitialization(message) && !message.paths?.length) complaints.paths = [PARAMETER_REQUIRED];
    return complaints;
  });
}
