/** What a node was handed at one pull. */
export interface Batch {
  seq: number;
  node_index: number;
  /** Tells the runs of a node apart: the queue's key, with its node_build_id; of clients that acknowledge a digest of the node_uuid. */
  run: string;
  batch_uuid: string | null;
  handed_at: number;
  /** Indices into the queue's test files. None: the node came again, and nothing was left for it. */
  files: number[];
  /** The node's first request: what it had before is nothing that it works on now. */
  isFirstRequest: boolean;
  /** Only in a first request: how many runs of the build were recorded before it; missing below store version 7. */
  runs_before?: number;
  /** Files that the node had before, handed to it again: of a fixed split, or those that it did not tell to have run. */
  isReplay: boolean;
  /** Of its files that are handed out in part, because only some of their test cases failed: these, as they are told. */
  cases?: CasesByFile;
  /** The recorded subset that a fixed split is based on. */
  build_subset_id: string | null;
  /** Its client tells what it ran. */
  acknowledges?: true;
  /** Which of its files failed, when its node told that it ran it; missing: it did not tell, or its client cannot. */
  failed?: number[];
  /** Of those, the ones of which it named the test cases that failed. */
  failed_cases?: CasesByFile;
  /** Whether the answer is known to have been written; of a batch with a uuid the store may not know. */
  delivered: boolean;
  /** Missing: the node may be working on it. */
  lease?: EndedLease;
}

/**
 * How a lease ended. `expired`: the node was silent for too long, and its files went back to the queue. `returned`: that node came back.
 * `restarted`: the node started again, and its files went back to the queue. `closed`: the node is known to work on it no more.
 */
export type EndedLease = 'expired' | 'returned' | 'restarted' | 'closed';

/** Paths of test cases, by the file that they are in. */
export type CasesByFile = [file: number, paths: string[]][];

export interface Pull {
  node_index: number;
  run: string;
  batch_uuid: string | null;
  /** The client says that it sent this request before. */
  isRetry: boolean;
  /** The node's first request (can_initialize_queue). */
  isFirstRequest: boolean;
  /** Only in a first request: how many runs of the build were recorded before it. */
  runs_before?: number;
  /** It starts, and wants the last split again (fixed_queue_split). */
  wantsLastSplit: boolean;
  /** Its client tells what it ran: a run that starts gets first what its node has not run, or not without a failure. */
  acknowledges?: true;
  /** Only in a first request: files that the node recorded without a time. A file that cannot be loaded has no test that fails. */
  unmeasured?: ReadonlySet<number>;
  /** The node's recorded subset since this queue began. */
  recordedSubset: string | null;
  /** Whether the client has closed its connection since it asked. */
  hasLeft: () => boolean;
}

/** Whether its files were for others to have, and still are as far as this batch goes. */
export function isRequeued({ lease }: Batch): boolean {
  return lease === 'expired' || lease === 'restarted';
}

/** Whether its files went to another node, because its own was silent or began anew. */
export function wasReassigned(batch: Batch): boolean {
  return isRequeued(batch) || batch.lease === 'returned';
}

/** Whether the batch that an earlier process got again is all that this process should get. */
export function hasSameFiles(last: Batch, { acknowledges }: Pull, files: readonly number[]): boolean {
  return acknowledges === true && !last.failed && !isRequeued(last) && last.files.length === files.length;
}

/** Which of so many files somebody has after these batches, in their order: 1, others 0. */
export function takenFiles(batches: Iterable<Batch>, files: number): Uint8Array {
  const taken = new Uint8Array(files);
  const handedOn = new Set<number>();
  for (const { files: own, isReplay, lease, delivered } of batches) {
    // What was handed out again is not taken by that: it may have been put back before.
    if (!isReplay) for (const file of own) taken[file] = 1;
    if (lease === 'restarted') for (const file of own) taken[file] = 0;
    if (lease !== 'expired' && lease !== 'returned') continue;
    for (const file of own) {
      if (lease === 'expired' && !(delivered && handedOn.has(file))) taken[file] = 0;
      handedOn.add(file);
    }
  }
  return taken;
}
