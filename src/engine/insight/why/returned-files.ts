import { type Batch, type EndedLease, wasReassigned } from '../../queue/batch.js';

/** Files of a batch that another batch had before, and that went back to the queue when the lease of that one ended. */
export interface ReturnedFiles {
  node_index: number;
  lease: EndedLease;
  files: number;
}

/**
 * Which files of each batch came back from earlier ones, by seq, most files first.
 *
 * @param batches those of a queue, in the order in which they were handed out
 */
export function returnedFiles(batches: readonly Batch[]): Map<number, ReturnedFiles[]> {
  const returned = new Map<number, ReturnedFiles[]>();
  /** The batch from which each file went back. */
  const sources = new Map<number, Batch>();
  for (const batch of batches) {
    const found = new Map<Batch, ReturnedFiles>();
    for (const file of batch.isReplay ? [] : batch.files) {
      const source = sources.get(file);
      if (!source) continue;
      sources.delete(file);
      const known = found.get(source);
      if (known) known.files += 1;
      else found.set(source, { node_index: source.node_index, lease: source.lease!, files: 1 });
    }
    const most = [...found.values()].sort((a, b) => b.files - a.files);
    if (most.length > 0) returned.set(batch.seq, most);
    if (wasReassigned(batch)) for (const file of batch.files) sources.set(file, batch);
  }
  return returned;
}
