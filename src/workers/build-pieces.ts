import { apiErrors } from '../api-error.js';
import { toSegments } from '../engine/segments.js';
import { limits } from '../limits.js';
import { type Build, nameOfPath, runsOf } from '../store/lmdb/builds.js';
import type { Store } from '../store/lmdb/open.js';
import { decodeSubset, subsetHead } from '../store/lmdb/subset-codec.js';
import { headOfBuild, headOfSubset } from './read.js';

/** The runs of a large build, newest first, in columns. */
export interface Outline {
  nodes: Uint32Array;
  runs: Uint32Array;
  /** When they were recorded. */
  times: Float64Array;
}

/** Where to continue: the next runs, and a test file of the first of them. */
export interface PieceSubject {
  build: number;
  outline: Outline;
  from: number;
}

/** JSON with a comma before each run. */
export interface Piece {
  bytes: Uint8Array;
  /** How many runs end in it, and the test file at which the next run continues. */
  runs: number;
  from: number;
}

export function buildOutline(store: Store, { number }: Build): Outline {
  const keys = [...store.subsets.getKeys(runsOf(number))];
  const times = keys.map(key => subsetHead(store.subsets.getBinaryFast(key)!).created_at);
  const order = [...keys.keys()].sort((a, b) => times[b]! - times[a]!);
  return {
    nodes: Uint32Array.from(order, i => keys[i]![1]),
    runs: Uint32Array.from(order, i => keys[i]![2]),
    times: Float64Array.from(order, i => times[i]!),
  };
}

/** A part of a build's runs, about `limits.pieceCharacters` long. Throws a 503 when the run to continue with is gone. */
export function buildPiece(store: Store, { build, outline: { nodes, runs, times }, from }: PieceSubject): Piece {
  let text = '';
  let run = 0;
  for (; run < nodes.length; run++, from = 0) {
    const bytes = store.subsets.get([build, nodes[run]!, runs[run]!]);
    if (!bytes || subsetHead(bytes).created_at !== times[run]) {
      if (from > 0) throw apiErrors.expired('build');
      continue;
    }
    const { paths, seconds, ...head } = decodeSubset(bytes);
    if (from === 0) text += `,${headOfSubset({ ...head, node_index: nodes[run]! })}`;
    for (let file = from; file < paths.length; file++) {
      if (text.length >= limits.pieceCharacters) return { bytes: toSegments([text]).bytes, runs: run, from: file };
      text += `${file > 0 ? ',' : ''}{"path":${jsonOfPath(store, paths[file]!)},"time_execution":${seconds[file]}}`;
    }
    text += ']}';
  }
  return { bytes: toSegments([text]).bytes, runs: run, from: 0 };
}

function jsonOfPath(store: Store, path: number): string {
  return store.pathNames.get(path) ?? JSON.stringify(nameOfPath(store, path));
}

/** The JSON of a large build, read piece by piece. Between two pieces it holds no snapshot of the store. */
export class BuildPieces {
  #run = 0;
  #from = 0;
  #isEmpty = true;

  constructor(
    readonly build: Build,
    readonly outline: Outline,
    readonly read: (subject: PieceSubject, isFirst: boolean) => Promise<Piece>,
  ) {}

  /** Memory in use, without the piece that is being sent. */
  get bytes(): number {
    const { nodes, runs, times } = this.outline;
    return nodes.byteLength + runs.byteLength + times.byteLength;
  }

  get isDone(): boolean {
    return this.#run >= this.outline.nodes.length;
  }

  async first(): Promise<Uint8Array> {
    return Buffer.concat([Buffer.from(headOfBuild(this.build)), await this.#next(true)]);
  }

  async *rest(): AsyncGenerator<Uint8Array> {
    while (!this.isDone) yield await this.#next(false);
  }

  async #next(isFirst: boolean): Promise<Uint8Array> {
    const { nodes, runs, times } = this.outline;
    const [begin, end] = [this.#run, this.#run + limits.runsPerPiece];
    const outline = { nodes: nodes.slice(begin, end), runs: runs.slice(begin, end), times: times.slice(begin, end) };
    const piece = await this.read({ build: this.build.number, outline, from: this.#from }, isFirst);
    this.#run += piece.runs;
    this.#from = piece.from;
    // The first run has no comma before it.
    const bytes = this.#isEmpty ? piece.bytes.subarray(1) : piece.bytes;
    if (piece.bytes.length > 0) this.#isEmpty = false;
    return this.isDone ? Buffer.concat([bytes, Buffer.from(']}')]) : bytes;
  }
}
