import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestCase } from '../../reports/test-case.js';
import type { Piece, PieceRunner, Selection, ToldCases } from './piece.js';

export const NO_SELECTION: Selection = { args: [], environment: {} };

/** One run of the command, with the folder in which the test runner and this client tell each other what is to run. */
export class Selecting {
  readonly #folder = mkdtempSync(join(tmpdir(), 'ballast-'));
  /** What is added to the command. */
  readonly selection: Selection;

  /** @param piece null: the command runs whole files */
  constructor(
    readonly runner: PieceRunner,
    piece: Piece | null,
    environment: NodeJS.ProcessEnv,
  ) {
    // A piece that cannot be selected runs as the whole file: nothing is lost.
    this.selection = runner.select(piece, this.#folder, environment) ?? NO_SELECTION;
  }

  told(files: readonly string[], reported: ReadonlyMap<string, readonly TestCase[]>): ReadonlyMap<string, ToldCases> {
    return this.runner.told(files, reported, this.#folder);
  }

  end(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
