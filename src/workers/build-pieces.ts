import { apiErrors } from '../api-error.js';
import type { Build } from '../engine/ports/builds.js';
import { toSegments } from '../engine/segments.js';
import { limits } from '../limits.js';
import type { LmdbStore } from '../store/lmdb/store.js';
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

export function buildOutline({ builds }: LmdbStore, { number }: Build): Outline {
  const runs = builds.runs(number).sort((a, b) => b.created_at - a.created_at);
  return {
    nodes: Uint32Array.from(runs, ({ node_index }) => node_index),
    runs: Uint32Array.from(runs, ({ run }) => run),
    times: Float64Array.from(runs, ({ created_at }) => created_at),
  };
}

const FILES_PER_READ = 2000;

/** A part of a build's runs, about `limits.pieceCharacters` long. Throws a 503 when the run to continue with is gone. */
export function buildPiece({ builds }: LmdbStore, { build, outline: { nodes, runs, times }, from }: PieceSubject): Piece {
  let text = '';
  let run = 0;
  for (; run < nodes.length; run++, from = 0) {
    let part = builds.run(build, { node_index: nodes[run]!, run: runs[run]! }, from, from + FILES_PER_READ);
    if (!part || part.created_at !== times[run]) {
      if (from > 0) throw apiErrors.expiredMeanwhile('build');
      continue;
    }
    if (from === 0) text += `,${headOfSubset(part)}`;
    for (let file = from; file < part.test_files; file++) {
      if (text.length >= limits.pieceCharacters) return { bytes: toSegments([text]).bytes, runs: run, from: file };
      if (file >= from + FILES_PER_READ) {
        from = file;
        part = builds.run(build, part, from, from + FILES_PER_READ)!;
      }
      text += `${file > 0 ? ',' : ''}{"path":${JSON.stringify(part.paths[file - from])},"time_execution":${part.seconds[file - from]}}`;
    }
    text += ']}';
  }
  return { bytes: toSegments([text]).bytes, runs: run, from: 0 };
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
