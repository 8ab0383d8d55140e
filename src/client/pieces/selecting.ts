import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestCase } from '../../reports/test-case.js';
import type { Piece, PieceSupport, Selection, ToldCases } from './piece.js';

/** Why a piece has no selection. A file that has none for another reason tells no cases, so its remedy is never shown. */
const TOO_LONG = 'the names of the test cases are too long to select this piece: shorten the names, or divide the file';

/** One run of the command, with the folder through which the client says what is to run, and the test runner what ran. */
export class Selecting {
  readonly #folder = mkdtempSync(join(tmpdir(), 'ballast-'));
  readonly #support: PieceSupport;
  /** What is added to the command. */
  readonly selection: Selection;
  /** What the user can do if the runner ran cases of other pieces, or told none. */
  readonly remedy: string;

  /** @param piece null: the command runs whole files */
  constructor(support: PieceSupport, piece: Piece | null, environment: NodeJS.ProcessEnv) {
    const { name, runner } = (this.#support = support);
    const selection = runner.select(piece, this.#folder, environment);
    // A piece that cannot be selected runs as the whole file: nothing is lost.
    this.selection = selection ?? { args: [], environment: {} };
    this.remedy = selection ? `make sure that the command passes ${namesIn(selection)} on to ${name}` : TOO_LONG;
  }

  /** See PieceRunner. */
  told(files: readonly string[], reported: ReadonlyMap<string, readonly TestCase[]>): ReadonlyMap<string, ToldCases> | null {
    return this.#support.runner.told(files, reported, this.#folder);
  }

  end(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** The flags and variables of a selection. */
function namesIn({ args, environment }: Selection): string {
  const flags = args.filter(arg => arg.startsWith('-')).map(arg => arg.split('=')[0]);
  return [...flags, ...Object.keys(environment)].join(' and ');
}
