import { addNodeCommands } from './node/commands.js';
import { runProgram } from './process/run-program.js';
import { addServerCommands } from './server/commands.js';

/** All commands. They are loaded when they are called: a start of the server needs no client, and reads the fewest files. */
await runProgram((program, testCommand) => {
  addServerCommands(program, process.env);
  addNodeCommands(program, { environment: process.env, testCommand });
});
