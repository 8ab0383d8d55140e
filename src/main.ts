import { Command, InvalidArgumentError, Option } from 'commander';
import { createProjectWithToken, createTokenOf, printProjects, printTokens, revoke } from './commands/project.js';
import { backup } from './commands/backup.js';
import { check } from './commands/check.js';
import { serve } from './commands/serve.js';
import { verify } from './commands/verify.js';
import { type Config, ConfigError, parseConfig } from './config.js';
import { type Setting, settings } from './settings.js';
import { version } from './version.js';

/** The process edge: commands, flags, environment, exit codes (0 done, 1 failed, 2 wrong settings or usage; verify: 3 unknown). */

// Whoever reads the output may stop reading: that ends no server.
process.stdout.on('error', () => {});

type Texts = { [K in keyof Config]?: string };

const program = new Command('ballast')
  .description('Self-hosted test-suite splitting and timing service for parallel CI nodes.')
  .version(version)
  .showHelpAfterError('(add --help for the usage)')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));

const serveCommand = program.command('serve').description('run the server until SIGTERM');
for (const setting of Object.values(settings)) addOption(serveCommand, setting);
serveCommand
  .addHelpText('after', `\nEnvironment only:\n${helpOfSecrets()}`)
  .action(async (flags: Texts) => serve(parseConfig(withSecrets(flags))));

const project = program.command('project').description('make and list projects');
dataCommand(project, 'create <name>', 'make a project and print its test-suite token', createProjectWithToken);
dataCommand(project, 'list', 'list the projects', printProjects);

const token = program.command('token').description('make, list and revoke test-suite tokens');
dataCommand(token, 'create <project>', 'make a further token for a project and print it', createTokenOf);
dataCommand(token, 'list <project>', 'list the ids of a project’s tokens', printTokens);
dataCommand(token, 'revoke <token-or-id>', 'make a token invalid from the next request on', revoke);

dataCommand(program, 'backup <folder>', 'copy the store as it is now into a folder, also while the server runs', backup)
  .option('--json', 'print one JSON object');
dataCommand(program, 'check', 'look whether everything in the store fits together, also while the server runs (exit code 1: it does not)', (dataDir, _, options) => check(dataDir, options))
  .option('--repair', 'write what follows from the rest; no server may run')
  .option('--json', 'print one JSON object');

program
  .command('verify')
  .description('ask a server whether every test file of a build was run and recorded (exit code 1: no; 3: it could not be asked)')
  .addOption(new Option('--url <address>', 'of the server, without /v1').env('BALLAST_URL').makeOptionMandatory())
  .addOption(new Option('--token <token>', 'test-suite token of the project').env('BALLAST_TOKEN').makeOptionMandatory())
  .requiredOption('--commit-hash <hash>')
  .requiredOption('--branch <name>')
  .requiredOption('--node-total <number>')
  .option('--node-build-id <id>', 'the queue of this id; without either id the newest queue or fixed split')
  .option('--ci-build-id <id>', 'the split of this id')
  .option('--wait <seconds>', 'wait so long for nodes that are about to record', wholeSeconds, 0)
  .option('--json', 'print the answer as one JSON object')
  .action(verify);

try {
  await program.parseAsync();
} catch (error) {
  const lines = error instanceof ConfigError ? error.complaints : [(error as Error).message];
  for (const line of lines) process.stderr.write(`ballast: ${line}\n`);
  process.exit(error instanceof ConfigError ? 2 : 1);
}

function wholeSeconds(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number of seconds.');
}

/** A command on the data folder, which takes at most one argument, and flags. */
function dataCommand(
  parent: Command,
  usage: string,
  description: string,
  run: (dataDir: string, argument: string, flags: Record<string, true>) => Promise<void>,
): Command {
  const command = parent.command(usage).description(description);
  addOption(command, settings.dataDir);
  command.action(async (...given: unknown[]) => {
    const { dataDir, ...flags } = command.opts<Texts>();
    const config = parseConfig(dataDir === undefined ? {} : { dataDir });
    await run(config.dataDir, typeof given[0] === 'string' ? given[0] : '', flags as Record<string, true>);
  });
  return command;
}

function addOption(command: Command, { flag, env, fallback, help }: Setting): void {
  if (flag === null) return;
  command.addOption(new Option(flag, `${help} (default: ${fallback || 'none'})`).env(env));
}

function withSecrets(flags: Texts): Texts {
  const token = process.env[settings.bootstrapToken.env];
  return token === undefined ? flags : { ...flags, bootstrapToken: token };
}

function helpOfSecrets(): string {
  return Object.values(settings)
    .filter(({ flag }) => flag === null)
    .map(({ env, help }) => `  ${env}  ${help}`)
    .join('\n');
}
