import { Command, InvalidArgumentError, Option } from 'commander';
import { createProjectWithToken, createTokenOf, printProjects, printTokens, revoke } from './commands/project.js';
import { backup } from './commands/backup.js';
import { check } from './commands/check.js';
import { exportStore, type ExportOptions } from './commands/export.js';
import { importTimings } from './commands/import.js';
import { serve } from './commands/serve.js';
import { verify } from './commands/verify.js';
import { type Config, ConfigError, parseConfig } from './config.js';
import { formats } from './reports/format.js';
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
dataCommand(project, 'create <name>', 'make a project and print its test-suite token', createProjectWithToken).option('--json', 'print JSON');
dataCommand(project, 'list', 'list the projects', printProjects).option('--json', 'print JSON');

const token = program.command('token').description('make, list and revoke test-suite tokens');
dataCommand(token, 'create <project>', 'make a further token for a project and print it', createTokenOf).option('--json', 'print JSON');
dataCommand(token, 'list <project>', 'list the ids of a project’s tokens', printTokens).option('--json', 'print JSON');
dataCommand(token, 'revoke <token-or-id>', 'make a token invalid from the next request on', revoke);

dataCommand(program, 'backup <folder>', 'copy the store as it is now into a folder, also while the server runs', backup)
  .option('--json', 'print one JSON object');
dataCommand(program, 'check', 'look whether everything in the store fits together, also while the server runs (exit code 1: it does not)', (dataDir, _, options) => check(dataDir, options))
  .option('--repair', 'write what follows from the rest; no server may run')
  .option('--json', 'print one JSON object');

dataCommand(program, 'export', 'write builds and timings as lines of JSON, also while the server runs', (dataDir, _, options) => exportStore(dataDir, options as unknown as ExportOptions))
  .option('--project <name>', 'only of this one')
  .option('--output <file>', 'to write instead of stdout; replaced when it is whole')
  .option('--no-builds', 'only timings')
  .option('--no-timings', 'only builds')
  .option('--json', 'print one JSON object about the file');

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

program
  .command('import [files...]')
  .description('record timings of elsewhere on a server, so that its first split is balanced; - is stdin')
  .addOption(new Option('--url <address>', 'of the server to import into').env('BALLAST_URL'))
  .addOption(new Option('--token <token>', 'test-suite token of the project to import into').env('BALLAST_TOKEN'))
  .addOption(new Option('--format <name>', 'of the files; without it their content tells').choices(formats))
  .option('--root <folder>', 'that test files are relative to, where reports have absolute paths (default: this folder)')
  .option('--cases', 'keep the times of test cases, and do not add them up by file')
  .option('--commit-hash <hash>', 'to record reports under (default: import- and a digest of the timings)')
  .option('--branch <name>', 'to record reports under', 'main')
  .option('--project <name>', 'of an export of several projects')
  .option('--from <address>', 'of another server of the same protocol, whose builds to import instead of files')
  .addOption(new Option('--from-token <token>', 'test-suite token of the project there').env('BALLAST_FROM_TOKEN'))
  .option('--builds <number>', 'only so many of its newest builds', wholeNumber)
  .option('--dry-run', 'read and tell, but record nothing')
  .option('--json', 'print one JSON object')
  .action(importTimings);

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

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1.');
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
