import { addImportCommand, addNodeCommands } from './node-commands.js';
import { runProgram } from './process/run-program.js';
import { addDashboardCommands, addMoveCommand, addServeCommand, addStoreCommands } from './server-commands.js';

/** All commands. They are loaded when they are called: a start of the server needs no client, and reads the fewest files. */
await runProgram((program, testCommand) => {
  addServeCommand(program, process.env);
  addStoreCommands(program, process.env);
  addMoveCommand(program, process.env);
  addDashboardCommands(program, process.env);
  addNodeCommands(program, { environment: process.env, testCommand });
  addImportCommand(program);
});
