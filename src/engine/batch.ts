/** What a node was handed at one pull, as it is journaled. */
export interface Batch {
  v: 1;
  seq: number;
  node_index: number;
  /** Digest of the node_build_id that pulled: tells the runs of a node apart. */
  run: string;
  batch_uuid: string | null;
  handed_at: number;
  /** Indices into the queue's test files. None: the node came again, and nothing was left for it. */
  files: number[];
  /** The node's first request: what it had before is nothing that it works on now. */
  starts: boolean;
  /** A fixed split: files that the node had in an earlier run, handed to it again. */
  again: boolean;
  /** The recorded subset that a fixed split is based on. */
  build_subset_id: string | null;
  /** Which of its files failed, when its node told that it ran it; missing: it did not tell, or its client cannot. */
  failed?: number[];
  /** Whether the answer is known to have been written; of a batch with a uuid the store may not know. */
  delivered: boolean;
  /**
   * `lost`: its node was silent for too long, and its files went to others; `late`: then it came back. `restarted`: its node began
   * anew, and its files went to whoever asked. `ended`: nothing is expected of its node any more.
   */
  lease?: 'lost' | 'late' | 'restarted' | 'ended';
}

export interface Pull {
  node_index: number;
  run: string;
  batch_uuid: string | null;
  /** The client says that it sent this request before. */
  isRetry: boolean;
  /** The node's first request (can_initialize_queue). */
  starts: boolean;
  /** It starts, and wants the last split again (fixed_queue_split). */
  wantsLastSplit: boolean;
  /** Its client tells what it ran: a run that starts gets first what its node has not run, or not without a failure. */
  acknowledges?: boolean;
  /** The node's recorded subset since this queue began. */
  recordedSubset: string | null;
  /** Whether the client has closed its connection since it asked. */
  hasLeft: () => boolean;
}

/** Whether its files were for others to have, and still are as far as this batch goes. */
export function isGivenUp({ lease }: Batch): boolean {
  return lease === 'lost' || lease === 'restarted';
}

/** Whether its files went to another node, because its own was silent or began anew. */
export function isHandedOn(batch: Batch): boolean {
  return isGivenUp(batch) || batch.lease === 'late';
}
