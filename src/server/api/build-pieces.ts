import { toSegments } from '../../base/bytes.js';
import { timestamp } from '../../base/time.js';
import type { BuildAnswer, BuildDetail, BuildSubset } from '../../protocol/messages/build.js';
import type { Build, RunHead } from '../engine/ports/builds.js';
import type { CiRun } from '../engine/ports/ci-runs.js';
import type { Store } from '../engine/ports/store.js';
import { refusals } from '../engine/refusal.js';
import { outcomeOf } from '../engine/test-file.js';
import { namedCiRun } from '../insight/subject.js';

/** A large build is answered in pieces. A piece ends when its JSON has this many characters. */
export const PIECE_CHARACTERS = 262_144;
/** A piece ends, too, when it has this many runs. */
const RUNS_PER_PIECE = 1000;
/** Test files of a run that are read at a time for a piece. */
const FILES_READ_PER_PIECE = 2000;

/** Builds and runs in the form that the API returns, and the answer for a large build, in pieces. */

export function buildAnswer({ id, commit_hash, branch, node_total, created_at, updated_at }: Build): BuildAnswer {
  return { id, commit_hash, branch, node_total, created_at: timestamp(created_at), updated_at: timestamp(updated_at) };
}

export function subsetAnswer({ id, node_index, created_at }: RunHead, test_files: BuildSubset['test_files']): BuildSubset {
  const at = timestamp(created_at);
  return { id, node_index, created_at: at, updated_at: at, test_files };
}

/** The JSON of a build up to its first run. */
export function headOfBuild(build: Build, ciRuns: readonly CiRun[]): string {
  const head = { ...buildAnswer(build), ci_runs: ciRuns.map(namedCiRun), build_subsets: [] } satisfies BuildDetail;
  return JSON.stringify(head).slice(0, -2);
}

/** The JSON of a run up to its first test file. */
export function headOfSubset(head: RunHead): string {
  return JSON.stringify(subsetAnswer(head, [])).slice(0, -2);
}

/** The runs of a large build, newest first, in columns. */
export interface Outline {
  nodes: Uint32Array;
  runs: Uint32Array;
  /** When they were recorded. */
  times: Float64Array;
}

/** Place to continue at: the next runs, and a test file of the first of them. */
export interface PieceSubject {
  build: number;
  outline: Outline;
  from: number;
}

/** JSON with a comma before each run. */
export interface Piece {
  bytes: Uint8Array;
  /** Number of runs that end in it, and the test file at which the unfinished run continues. */
  runs: number;
  from: number;
}

export async function buildOutline({ builds }: Store, { number }: Build): Promise<Outline> {
  const heads = (await builds.runs(number)).sort((a, b) => b.created_at - a.created_at || b.ordinal - a.ordinal);
  return {
    nodes: Uint32Array.from(heads, ({ node_index }) => node_index),
    runs: Uint32Array.from(heads, ({ run }) => run),
    times: Float64Array.from(heads, ({ created_at }) => created_at),
  };
}

/** A part of a build's runs, about `PIECE_CHARACTERS` long. Throws a 503 when the run to continue with has expired. */
export async function buildPiece({ builds }: Store, { build, outline, from }: PieceSubject): Promise<Piece> {
  const { nodes, runs, times } = outline;
  let text = '';
  let index = 0;
  while (index < nodes.length) {
    const head = { node_index: nodes[index]!, run: runs[index]! };
    const run = await builds.run(build, head, from, from + FILES_READ_PER_PIECE);
    if (!run || run.created_at !== times[index]) {
      if (from > 0) throw refusals.expired('build');
      index += 1;
      continue;
    }
    if (from === 0) text += `,${headOfSubset(run)}`;
    for (const [i, path] of run.paths.entries()) {
      const outcome = outcomeOf(run.outcomes[i]!);
      const told = outcome === null ? '' : `,"outcome":"${outcome}"`;
      text += `${from > 0 ? ',' : ''}{"path":${JSON.stringify(path)},"time_execution":${run.seconds[i]}${told}}`;
      from += 1;
      if (text.length >= PIECE_CHARACTERS) return { bytes: toSegments([text]).bytes, runs: index, from };
    }
    if (from < run.test_files) continue;
    text += ']}';
    index += 1;
    from = 0;
  }
  return { bytes: toSegments([text]).bytes, runs: index, from: 0 };
}

/** The JSON of a large build, read piece by piece. Between two pieces it holds no snapshot of the store. */
export class BuildPieces {
  #run = 0;
  #from = 0;
  #isEmpty = true;

  constructor(
    readonly build: Build,
    readonly ciRuns: readonly CiRun[],
    readonly outline: Outline,
    readonly read: (subject: PieceSubject, isFirst: boolean) => Promise<Piece>,
  ) {}

  /** The memory in use, without the piece that is being sent. */
  get bytes(): number {
    const { nodes, runs, times } = this.outline;
    return nodes.byteLength + runs.byteLength + times.byteLength;
  }

  get isDone(): boolean {
    return this.#run >= this.outline.nodes.length;
  }

  async first(): Promise<Uint8Array> {
    return Buffer.concat([Buffer.from(headOfBuild(this.build, this.ciRuns)), await this.#next(true)]);
  }

  async *rest(): AsyncGenerator<Uint8Array> {
    while (!this.isDone) yield await this.#next(false);
  }

  async #next(isFirst: boolean): Promise<Uint8Array> {
    const { nodes, runs, times } = this.outline;
    const [begin, end] = [this.#run, this.#run + RUNS_PER_PIECE];
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
