import type { tags } from 'typia';
import type { ProvedPart } from '../answers/completeness.js';
import type { CasesOfName } from '../case-outcomes.js';
import type { limits } from '../limits.js';
import type { Count, Text, Uuid } from '../scalars.js';
import type { Checkout, FailedPath, Links, ListedTestFile, NodeKey, Path, People, PlannedTestFile, TestFileList } from './parameters.js';
import type { ProofAge } from './proof.js';

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

/** POST /v2/queues/queue: each pull reports the outcome of the previous batch. */
export interface TestQueueMessage extends NodeKey, People, Links, Checkout {
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
  /** Sizes in bytes of the distinct paths, sorted by UTF-16 code units; 0: unknown. While nothing was measured, they tell the long files. */
  sizes?: TestFileList<Count>;
  /**
   * Order of the files, from the request that creates the queue. `failing-first`: what failed in the newest run of the branch, and new files, go
   * first in a build of more than a minute. Default: failing-first.
   */
  order?: QueueOrder;
  /**
   * The queue leaves out the test files that CI runs of the tree proved which began at most so many seconds ago. From the request that creates the
   * queue; missing: it has all files.
   */
  proved_max_age?: ProofAge;
  /**
   * SHA-256, in hex, of the distinct paths of all test files, sorted by UTF-16 code units, with a NUL after each. If the queue was
   * made from another list, connecting fails, and a request with the list, or a pull, gets a 409.
   */
  test_files_digest?: Text;
  /** Id of the batch that the node has run. */
  batch_id?: Count;
  /** The test files of that batch, or test cases in them, that failed. */
  failed_paths?: TestFileList<FailedPath>;
  /**
   * The seconds that each path of that batch took, in the order of the answer; 0: it was not measured; null: it ran, and had no time to measure. If
   * the node falls silent, the server records them for it. With `sends_heartbeats`.
   */
  times?: ((number & tags.Minimum<0>) | null)[] & tags.MaxItems<typeof limits.testFilesPerRequest>;
  /** Creates the queue or connects to it, without pulling a batch. */
  skip_pull?: boolean;
  /** Requests `times`, `node_uuid` and `batch_index` in the answer. */
  wants_times?: boolean;
  /**
   * The test runner with which the client runs pieces; missing: it runs only whole files. The request that creates a queue decides for all: if the
   * queue has pieces, a node with another runner, or without one, gets a 409.
   */
  pieces?: Text;
  /**
   * The client sends a heartbeat every 15 seconds while it works on a batch, and pulls again when an answer says so. When it is silent for longer
   * than the server allows, its test files go to another node.
   */
  sends_heartbeats?: boolean;
  /**
   * The client retries test files that failed: when no other file is left, it runs those that failed on other nodes, one a batch, or on its own if
   * no other node is free. When no file is left, it waits for the retries of its own. Each file is retried once, in the whole queue at most 10, and no
   * file that could not be loaded or hung. With `sends_heartbeats` and `times`.
   */
  retry_failed?: boolean;
}

export type QueueOrder = 'failing-first' | 'slowest-first';

/** A batch. Empty `paths` are the end of the queue. */
export interface TestQueueAnswer {
  paths: string[];
  /** Null at the end of the queue. */
  batch_id: Count | null;
  /**
   * No test file is left, but other nodes are at work: the client should pull again after so many seconds, because it gets their files if they
   * die. Missing: the node is done. Only if the request has `sends_heartbeats`.
   */
  pull_again_in?: number;
  /** The test file of the batch failed, on this node or another one, and is retried. Missing: no. */
  is_retry?: true;
  /** At the end of a node, if its requests have `retry_failed`: the test files that failed on it, and passed in their retries. Missing: none. */
  passed_again?: string[];
  /** The node was silent, and the server recorded what it had run before its last batch: it must not record that again. */
  is_recorded?: boolean;
  /** Expected time of each path in seconds, null if unknown. Only if the request has `wants_times`. */
  times?: (number | null)[];
  /** What the queue had learned, if it has sized a batch. Only with `times`. */
  learned?: FileCost;
  /** Of each path that names a piece of a test file, what the client has to run; missing: no path does. */
  pieces?: HandedPiece[];
  /** From the request, if it has `wants_times`. */
  node_uuid?: string;
  batch_index?: Count;
  /** Of the whole queue: in the answer to the first request of a process, if it has `wants_times` and gets new files. */
  forecast?: QueueForecast;
  /** The test files that the queue leaves out: in the answer to the first request of a process, if it has `wants_times`. */
  proved?: ProvedPart;
  /** Address of the build, if the request has skip_pull. */
  url?: string;
}

/** What a test file takes a node of usual speed: `hidden` seconds, and `slowdown` times its time by estimate. */
export interface FileCost {
  hidden: number;
  /** At least 1. */
  slowdown: number;
}

/** A piece of a test file. */
export interface HandedPiece {
  /** One of `paths`. */
  path: string;
  /** The names of the test cases that it has to run. */
  cases: string[];
  /** Of the last piece: the names of the cases of the others. The piece runs everything else in the file. Null: it runs only its own cases. */
  others: string[] | null;
  /**
   * Outcomes of the cases of each name in the whole file. A name without an entry stands for one case, which runs. The last piece may also have
   * entries for names of which no case ran. If fewer cases of a name ran in the piece, or more failed as expected or were skipped, the client should
   * run the whole file, whose result counts.
   */
  outcomes: CasesOfName[];
  /** If the piece fails, the client should run the whole file, whose result counts: its cases may fail only in pieces. */
  is_trial: boolean;
}

/** Contents of a queue, and the time at which it should end. */
export interface QueueForecast {
  test_files: Count;
  /** Number of these files that were never measured. */
  unknown_files: Count;
  /** Seconds that this node should work in all; null, like the others: most files were never measured. */
  share: number | null;
  /** Seconds until all nodes should end. */
  ends_in: number | null;
  /** The end lies between these in nine of ten builds. */
  earliest_in: number | null;
  latest_in: number | null;
  /** Time that pieces of long files save; missing: none, or it is not known. */
  cutting?: {
    files: Count;
    /** Seconds. */
    saves: number;
    /** False: the queue has these files whole. */
    is_done: boolean;
  };
}

/** POST /v2/queues/heartbeat: the process of a node works on its batch. */
export interface HeartbeatMessage extends NodeKey {
  test_queue_id: Text;
  /** Id of the client's process, as in its pulls. */
  node_uuid: Text;
}

export interface HeartbeatAnswer {
  /** Seconds after which the test files go to another node unless the node is heard of again; null: they stay, or they went already. */
  lease_ends_in: number | null;
}

/** POST /v2/queues/cancel: the process of a node ends, because its CI system cancels it. Its test files go to other nodes. */
export interface CancelMessage extends HeartbeatMessage {
  /** Id of the batch that the node worked on, if it knows what passed of it. */
  batch_id?: Count;
  /** The test files of that batch that failed or did not run to their end. The others passed, and stay with the node. */
  failed_paths?: TestFileList<FailedPath>;
}

export interface CancelAnswer {
  /** False: nothing of this is new, the process has no batch, or another process of the node has begun. */
  is_noted: boolean;
}

/** Query of GET /v2/test_paths */
export interface TestPathsQuery {
  branch: Text;
}

/** Test files, or test cases in them, that failed and have not passed since. */
export interface TestPathsAnswer {
  failed_paths: string[];
}
