import type { CaseOutcomes, NamedCases } from '../../protocol/case-outcomes.js';
import type { TestCase } from '../reports/test-case.js';

/** A piece of a test file, as the server hands it out. Cases have the names that the test runner gives them. */
export interface Piece {
  /** Its name in the queue, see `piecePath`. */
  path: string;
  file: string;
  /** The cases that it has to run. */
  cases: readonly string[];
  /** The cases of all other pieces: it runs everything else in the file, known or not. Null: it runs its own cases only. */
  others: readonly string[] | null;
  /** Outcomes of the cases of each name of the piece in the whole file. A name without an entry stands for one case, which runs. */
  outcomes: ReadonlyMap<string, CaseOutcomes>;
  /** If the piece fails, the whole file is run, and its result counts. */
  isTrial: boolean;
}

/** Report of one run of a command on a test file. */
export interface CaseReport {
  /** One for each name. */
  cases: readonly NamedCases[];
  /** The names of all cases in the file, also of those that were not selected; null: the runner does not tell. */
  listed: ReadonlySet<string> | null;
}

/** Changes that make a command run a piece. */
export interface Selection {
  /** To be added behind the path of the file. */
  args: readonly string[];
  /** To be added to the environment. */
  environment: Readonly<Record<string, string>>;
}

/** A question for a filter of test cases that a selection would replace, in the configuration of a command or in a script. */
export interface FilterQuestion {
  /**
   * Returns what is to be added to the command, which then prints its configuration, and runs no test. May write files into the folder.
   */
  args(folder: string): readonly string[];
  /** The filter, in what the command printed; null: there is none; undefined: the command reported nothing. */
  filterIn(output: string): string | null | undefined;
}

/**
 * Support of a test runner for pieces. Whatever a file contains, all of its pieces together run all of its cases: the piece with the rest excludes
 * exactly what the others select, by the same rule.
 */
export interface PieceRunner {
  /**
   * Prepares a command for one piece, or for whole files (null), of which it is to tell the cases. May write files into the folder.
   * Null: it cannot run this piece.
   * @param environment of the command
   */
  select(piece: Piece | null, folder: string, environment: NodeJS.ProcessEnv): Selection | null;
  /** Missing: filters of the configuration also apply to a selection. */
  readonly filter?: FilterQuestion;
  /**
   * The cases that the command reported, by file. Null: the source of reports has nothing of these files.
   * @param files the files of the command
   * @param reported the test cases of these files in its reports
   * @param folder the folder of `select`
   */
  reportsOf(
    files: readonly string[],
    reported: ReadonlyMap<string, readonly TestCase[]>,
    folder: string,
  ): ReadonlyMap<string, CaseReport> | null;
}

/** The test runner with which a node runs pieces. */
export interface PieceSupport {
  /** As the server knows it. */
  name: string;
  runner: PieceRunner;
}
