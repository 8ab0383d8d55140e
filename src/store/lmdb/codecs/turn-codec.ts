import { Packr } from 'msgpackr';
import type { Change } from '../../../engine/ports/queues.js';
import type { NewSubset } from '../writes/put-subsets.js';

/** A change of a queue, encoded: the batch may change again before it is written. */
export type QueueChange = readonly [queue: string, change: Buffer];

/** What a turn of the event loop adds to the journal, in order. */
export interface Turn {
  changes: QueueChange[];
  runs: NewSubset[];
}

const msgpack = new Packr({ useRecords: false });

export function encodeTurn(turn: Turn): Buffer {
  return msgpack.pack(turn);
}

export function decodeTurn(payload: Uint8Array): Turn {
  return msgpack.unpack(payload) as Turn;
}

export function encodeChange(change: Change): Buffer {
  return msgpack.pack(change);
}

export function decodeChange(bytes: Uint8Array): Change {
  return msgpack.unpack(bytes) as Change;
}
