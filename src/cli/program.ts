import { Command, InvalidArgumentError, Option } from 'commander';
import { parseServer } from '../client/address.js';
import { type IdentityOptions, identityFields } from '../client/ci/identity.js';
import { formats } from '../reports/format.js';
import { type Config, parseConfig } from '../server/config.js';
import { type Setting, settings } from '../server/settings.js';
import { escapeControls, printToStderr } from '../terminal.js';
import { version } from '../version.js';
import type { ClientOptions } from './client-options.js';
import type { ExportOptions } from './export.js';
import { requireServerPlatform } from './process/supported.js';
import { untilSignal } from './process/until-signal.js';

/**
 * The process edge: commands, flags, environment, exit codes (0 done, 1 failed, 2 wrong settings or usage, 3 what a server would not say).
 * Commands are loaded when they are called: a CI node needs neither the store nor the HTTP library.
 */

process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // Whoever reads the output may stop reading: that ends no server. But a list in a file is whole, or is known not to be.
  if (code === 'EPIPE') return;
  printToStderr(`cannot write the output: ${message}`);
  process.exitCode = 1;
});

type Texts = { [K in keyof Config]?: string };

const program = new Command('ballast')
  .description('Self-hosted test-suite splitting and timing service for parallel CI nodes.')
  .version(version)
  // Arguments are foreign text, too. A suggestion keeps its own line.
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

const serveCommand = program.command('serve').description('run the server until SIGTERM');
for (const setting of Object.values(settings)) addOption(serveCommand, setting);
serveCommand
  .addHelpText('after', `\nEnvironment only:\n${helpOfSecrets()}`)
  .hook('preAction', requireServerPlatform)
  .action(async (flags: Texts) => (await import('./serve.js')).serve(parseConfig(withSecrets(flags)), unknownVariables()));

const project = program.command('project').description('create and list projects');
const projects = () => import('./project.js');
dataCommand(project, 'create <name>', 'create a project and print its test-suite token', async (...given) =>
  (await projects()).createProjectWithToken(...given),
).option('--json', 'print JSON');
dataCommand(project, 'list', 'list the projects', async (...given) => (await projects()).printProjects(...given)).option(
  '--json',
  'print JSON',
);

const token = program.command('token').description('create, list and revoke test-suite tokens');
dataCommand(token, 'create <project>', 'create another token for a project and print it', async (...given) =>
  (await projects()).createProjectToken(...given),
).option('--json', 'print JSON');
dataCommand(token, 'list <project>', 'list the ids of a project’s tokens', async (...given) =>
  (await projects()).printTokens(...given),
).option('--json', 'print JSON');
dataCommand(token, 'revoke <token-or-id>', 'revoke a token: the next request with it is refused', async (...given) =>
  (await projects()).revoke(...given),
).option('--json', 'print JSON');

dataCommand(program, 'backup <folder>', 'copy the current state of the store into a folder, also while the server runs', (...given) =>
  untilSignal(async stop => (await import('./backup.js')).backup(...given, stop)),
).option('--json', 'print one JSON object');
dataCommand(
  program,
  'check',
  'check that the store is consistent, also while the server runs (exit code 1: it is not)',
  (dataDir, _, options) => untilSignal(async stop => (await import('./check.js')).check(dataDir, options, stop)),
)
  .option('--repair', 'rebuild records that can be derived from others; stop the server before')
  .option('--json', 'print one JSON object');

dataCommand(program, 'export', 'write builds and timings as lines of JSON, also while the server runs', (dataDir, _, options) =>
  untilSignal(async stop => (await import('./export.js')).exportStore(dataDir, options as unknown as ExportOptions, stop)),
)
  .option('--project <name>', 'export this project only')
  .option('--output <file>', 'write to this file (- is stdout); an existing file is replaced when the new one is complete')
  .option('--no-builds', 'leave out the builds')
  .option('--no-timings', 'leave out the timings')
  .option('--json', 'print one JSON object about the file');

// What is behind "--" is a command of somebody else's, with flags of its own.
const dashes = process.argv[2] === 'queue' ? process.argv.indexOf('--') : -1;
const ownArguments = dashes < 0 ? process.argv : process.argv.slice(0, dashes);
const commandOfQueue = dashes < 0 ? [] : process.argv.slice(dashes + 1);
const listFlags = (command: Command) =>
  command
    .option('--stdin', 'read the test files from stdin as literal paths, one a line or separated by NUL (same as -)')
    .option('--fallback', 'when the server cannot be reached, run all test files that this node has not run (default: fail)')
    .addOption(new Option('--no-fallback').hideHelp());

const judgementFlags = (command: Command) =>
  command
    .option(
      '--trust-exit-code',
      'let only the exit code of the command decide: ignore failures in reports (for test runners that report retried or expected failures)',
    )
    .option('--fail-unreported', 'fail when no report mentions a test file: the file counts as not run');

listFlags(
  nodeCommand('split [globs...]', 'print the test files of this node, by a split made once per build', [
    'nodeIndex',
    'nodeTotal',
    'buildId',
    'branch',
    'commitHash',
  ]),
)
  .option('-0, --null', 'end each path with NUL instead of a line break')
  .option(
    '--format <template>',
    'template of each printed line: {path} and {seconds}, the expected duration (empty if it was never measured)',
    '{path}',
  )
  .option('--dynamic', 'make a new split for each --build-id instead of one split for the commit')
  .option('--json', 'print one JSON object')
  .action(async (globs: string[], flags) => (await import('./split.js')).split(globs, asNode(flags)));
judgementFlags(
  listFlags(
    nodeCommand(
      'queue [globs...]',
      'run a command for each batch of this node until the queue is empty, and record the times: ballast queue GLOB... -- COMMAND... {}',
      ['nodeIndex', 'nodeTotal', 'buildId', 'branch', 'commitHash'],
    ),
  ),
)
  .option(
    '--junit <glob>',
    'JUnit reports that the command writes, with the times and failures of its files; may be repeated',
    (glob: string, others: string[] = []) => [...others, glob],
  )
  .addHelpText(
    'after',
    '\nIn COMMAND, {} becomes the files of a batch, and {,} within an argument all of them with commas; BALLAST_BATCH is the batch’s number.',
  )
  .action(async (globs: string[], flags) => (await import('./queue.js')).queue(globs, commandOfQueue, asNode({ junit: [], ...flags })));
judgementFlags(
  nodeCommand('record <reports...>', 'record the times of the tests that this node ran, from JUnit reports', [
    'nodeIndex',
    'nodeTotal',
    'branch',
    'commitHash',
  ]),
)
  .addOption(
    new Option(identityFields.buildId.flag, 'the id of the CI run, as given to split: the times then count only for this CI run').env(
      identityFields.buildId.variable,
    ),
  )
  .option('--files-from <file>', 'file with the test files that the node was given (- is stdin); reports are matched to them')
  .option(
    '--exit-code <number>',
    'exit code of the command that ran the tests: with 0, files in no report are recorded as having nothing to run, and a failure in a report ends record with 1',
    wholeNumber(),
  )
  .option('--json', 'print one JSON object')
  .action(async (reports: string[], flags) => (await import('./record.js')).record(reports, asNode(flags)));
nodeCommand(
  'verify',
  'ask a server whether every test file of a CI run was run and recorded (exit code 1: no, or the CI run is not known; 3: it could not be asked)',
  ['nodeTotal', 'buildId', 'branch', 'commitHash'],
)
  .option('--node-build-id <id>', 'ask about the queue with this id, not about a split')
  .option('--ci-build-id <id>', 'ask about the split with this id, not about a queue')
  .option('--newest', 'ask about the newest queue or split of the build, of any CI run')
  .option('--wait <seconds>', 'seconds to wait for nodes that have not recorded yet', wholeNumber('seconds'), 0)
  .option('--json', 'print the answer as one JSON object')
  .action(async flags => (await import('./verify.js')).verify(asNode(flags)));

program
  .command('import [files...]')
  .description('import timings recorded by other tools, so that the first split is balanced; - is stdin')
  .addOption(new Option('--url <address>', 'address of the server to import into').env('BALLAST_URL'))
  .addOption(new Option('--token <token>', 'test-suite token of the project to import into').env('BALLAST_TOKEN'))
  .addOption(new Option('--format <name>', 'report format (default: detected from the content)').choices(formats))
  .option('--root <folder>', 'folder that paths are relative to, for reports with absolute paths (default: the current folder)')
  .option('--files-from <file>', 'file with the test files as the nodes list them (- is stdin); reports are matched to them')
  .option('--cases', 'import test cases one by one instead of the sum of each file')
  .option('--commit-hash <hash>', 'commit to record reports under (default: import- and a digest of the timings)')
  .option('--branch <name>', 'branch to record reports under', 'main')
  .option('--project <name>', 'project to import from an export that has several')
  .option('--from <address>', 'address of another server of the same protocol; its builds are imported instead of files')
  .addOption(new Option('--from-token <token>', 'test-suite token of the project on that server').env('BALLAST_FROM_TOKEN'))
  .option('--builds <number>', 'number of newest builds to import from that server', wholeNumber('builds'))
  .addOption(retriesOption())
  .option('--dry-run', 'read the files and print what would be imported, but record nothing')
  .option('--json', 'print one JSON object')
  .action(async (files: string[], flags) => (await import('./import.js')).importTimings(files, { ...flags, clientVersion: version }));

try {
  await program.parseAsync(ownArguments);
} catch (error) {
  const { message, complaints = [message], exitCode = 1 } = error as Error & { complaints?: readonly string[]; exitCode?: number };
  printToStderr(...complaints);
  process.exit(exitCode);
}

function wholeNumber(what?: string): (text: string) => number {
  return text => {
    if (/^\d{1,6}$/.test(text)) return Number(text);
    throw new InvalidArgumentError(`It must be a whole number${what ? ` of ${what}` : ''}.`);
  };
}

function retriesOption(): Option {
  return new Option('--retries <number>', 'how often to repeat a request that gets no answer')
    .env('BALLAST_RETRIES')
    .argParser(wholeNumber('retries'))
    .default(3);
}

/** A command of a CI node: where the server is, and which node of which build this is. */
function nodeCommand(usage: string, description: string, named: readonly (keyof IdentityOptions)[]): Command {
  const command = program
    .command(usage)
    .description(description)
    .addOption(new Option('--url <address>', 'address of the server').env('BALLAST_URL'))
    .addOption(new Option('--token <token>', 'test-suite token of the project').env('BALLAST_TOKEN'));
  for (const field of named) {
    const { flag, variable, description } = identityFields[field];
    command.addOption(new Option(flag, `${description} (default: what the CI system tells)`).env(variable));
  }
  return command
    .addOption(retriesOption())
    .addHelpText(
      'after',
      '\nExit codes: 0 done; 1 tests failed, are missing, or are in no report; 2 wrong usage, nothing to run, or another list than the other nodes have; 3 the server refused, was not reached, or is not a Ballast server.',
    );
}

function asNode<Flags extends { url?: string; token?: string }>(
  flags: Flags,
): Flags & Pick<ClientOptions, 'url' | 'token' | 'environment' | 'clientVersion'> {
  return { ...flags, ...parseServer(flags), environment: process.env, clientVersion: version };
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
  command.hook('preAction', requireServerPlatform).action(async (...given: unknown[]) => {
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

/** Variables that look like settings, and are read by no command. */
function unknownVariables(): string[] {
  const ofOptions = (command: Command): (string | undefined)[] => [
    ...command.options.map(({ envVar }) => envVar),
    ...command.commands.flatMap(ofOptions),
  ];
  // The last is told to who runs the tests.
  const known = new Set([...ofOptions(program), settings.bootstrapToken.env, 'BALLAST_BATCH']);
  return Object.keys(process.env).filter(name => name.startsWith('BALLAST_') && !known.has(name));
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
