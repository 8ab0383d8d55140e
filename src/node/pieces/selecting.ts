import { dirname } from 'node:path';
import { makeTemporaryFolder, removeTemporaryFolder } from '../client/temporary-folder.js';
import type { TestCase } from '../reports/test-case.js';
import type { CaseReport, Piece, PieceSupport, Selection } from './piece.js';

/** Why a piece has no selection. A file that has none for another reason tells no cases, so its remedy is never shown. */
const TOO_LONG = 'the names of the test cases are too long to select this piece: shorten the names, or divide the file';

/** One run of the command, with the folder through which the client says what is to run, and the test runner what ran. */
export class Selecting {
  readonly #folder = makeTemporaryFolder();
  readonly #support: PieceSupport;
  /** Additions to the command. */
  readonly selection: Selection;
  /** Advice for a user whose runner ran cases of other pieces, or reported none. */
  readonly remedy: string;

  /** @param piece null: the command runs whole files */
  constructor(support: PieceSupport, piece: Piece | null, environment: NodeJS.ProcessEnv) {
    const { name, runner } = (this.#support = support);
    const selection = runner.select(piece, this.#folder, environment);
    // A piece that cannot be selected runs as the whole file: nothing is lost.
    this.selection = selection ?? { args: [], environment: {} };
    this.remedy = selection ? remedyFor(selection, name, dirname(this.#folder)) : TOO_LONG;
  }

  /** See PieceRunner. */
  reportsOf(files: readonly string[], reported: ReadonlyMap<string, readonly TestCase[]>): ReadonlyMap<string, CaseReport> | null {
    return this.#support.runner.reportsOf(files, reported, this.#folder);
  }

  end(): void {
    removeTemporaryFolder(this.#folder);
  }
}

function remedyFor({ args, environment }: Selection, runner: string, temporaryFolder: string): string {
  const flags = args.filter(arg => arg.startsWith('-')).map(arg => arg.split('=')[0]);
  const variables = Object.keys(environment);
  const passes = `make sure that the command passes ${[...flags, ...variables].join(' and ')} on to ${runner}`;
  // A runner with variables loads a hook, which writes what it tells.
  return variables.length === 0 ? passes : `${passes}, and that its tests neither remove all files in ${temporaryFolder} nor fill the disk`;
}
