import './process/supported.js';
import { addNodeCommands } from './node/commands.js';
import { runProgram } from './process/run-program.js';

/** The commands of a CI node, which need neither a store nor an HTTP server: `scripts/bundle-program.mjs` makes one file of them. */
void runProgram((program, testCommand) => {
  addNodeCommands(program, { environment: process.env, testCommand });
  program.showHelpAfterError('(add --help for the usage; this program has the commands of a CI node, not those of the server)');
});
