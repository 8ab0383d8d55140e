import { Command } from 'commander';
import { escapeControls, printToStderr } from '../../base/terminal.js';
import { UsageError } from '../../base/usage-error.js';
import { version } from '../../base/version.js';
import { addHelpCommand } from './help-command.js';

/**
 * Runs the command that the arguments of this process name. Ends the process with the exit code of the command: 0 done, 1 failed, 2 wrong
 * settings or usage, 3 no usable answer from the server.
 *
 * @param addCommands adds the commands of the program; `testCommand` is what follows `--`
 */
export async function runProgram(addCommands: (program: Command, testCommand: readonly string[]) => void): Promise<void> {
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    // The reader of a pipe may stop reading, and a server must go on. A list in a file must be complete, or the command must fail.
    if (code === 'EPIPE') return;
    printToStderr(`cannot write the output: ${message}`);
    process.exitCode = 1;
  });

  const program = new Command('ballast')
    .description('Self-hosted test-suite splitting and timing service for parallel CI nodes.')
    .version(version)
    // An error message may quote an argument with control characters. A suggestion keeps its own line.
    .configureOutput({
      outputError: (text, write) =>
        write(
          text
            .split(/\n(?=\(Did you mean|$)/)
            .map(escapeControls)
            .join('\n'),
        ),
    })
    .showHelpAfterError('(add --help for the usage)')
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));

  const { args, testCommand } = splitArguments(process.argv);
  addCommands(program, testCommand);
  addHelpCommand(program);
  try {
    await program.parseAsync(args);
  } catch (error) {
    printToStderr(...(error instanceof UsageError ? error.errors : [(error as Error).message]));
    process.exit((error as { exitCode?: number }).exitCode ?? 1);
  }
}

/** Separates the command after `--`, which has flags of its own, from the arguments of `queue`, `plan`, `doctor` and `again`. */
function splitArguments(argv: readonly string[]): { args: readonly string[]; testCommand: readonly string[] } {
  const dashes = ['queue', 'plan', 'doctor', 'again'].includes(argv[2] ?? '') ? argv.indexOf('--') : -1;
  return dashes < 0 ? { args: argv, testCommand: [] } : { args: argv.slice(0, dashes), testCommand: argv.slice(dashes + 1) };
}
