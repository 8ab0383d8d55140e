import { join } from 'node:path';
import { readHookReports, writeHook } from './hook.js';
import type { PieceRunner } from './piece.js';

/**
 * Pieces of RSpec. A case has the full description that it has once its file is loaded. Examples with the same description are one case,
 * which runs as a whole: all those of a group that get their descriptions from their matchers, such as `it { is_expected.to be_valid }`.
 *
 * The ids of RSpec (`[1:2:3]`) would tell these apart. But an id is a position: if machines define examples in another order, as a loop
 * over `Dir.glob` may, an id is another example on each, and an example could run in no piece. A description is the same example
 * everywhere. It also keeps its time when a case is inserted before it.
 *
 * A case belongs to the file in whose loading it was defined, wherever the text of a shared example is. Filters of the project, the command
 * line and the environment apply first. RSpec adds up the files that these require, and of other options takes SPEC_OPTS first.
 */
export const rspec: PieceRunner = {
  select(piece, folder, environment) {
    const hook = join(writeHook('ballast_piece.rb', piece, folder), 'ballast_piece.rb');
    // In front of the old value: the hook takes these words away again. RSpec splits the value as a shell does.
    const added = `--require '${hook.replaceAll("'", `'\\''`)}'`;
    return { args: [], environment: { SPEC_OPTS: environment.SPEC_OPTS ? `${added} ${environment.SPEC_OPTS}` : added } };
  },
  reportsOf: (files, _reported, folder) => readHookReports(files, folder),
};
