import { Argument, type Command, Option } from 'commander';
import { UsageError } from '../../base/usage-error.js';
import { settingDefinitions } from '../../server/engine/setting-texts.js';
import { type Config, parseConfig, type Setting, settings } from '../../server/process/settings.js';
import { type StoreSource, sourceOf } from '../../server/store/source.js';
import { requireServerPlatform } from '../process/supported.js';
import { untilSignal } from '../process/until-signal.js';
import { wholeNumber } from '../process/whole-number.js';
import type { LinkOptions } from './dashboard.js';
import type { ExportOptions } from './export.js';
import type { Direction, MoveOptions } from './move.js';
import type { DefaultBranchOptions, DeleteOptions, TokenOptions } from './project.js';

type SettingTexts = { [K in keyof Config]?: string };

/** Adds the commands that need the store, or make it. */
export function addServerCommands(program: Command, environment: NodeJS.ProcessEnv): void {
  addServeCommand(program, environment);
  addStoreCommands(program, environment);
  addMoveCommand(program, environment);
  addDashboardCommands(program, environment);
}

function addServeCommand(program: Command, environment: NodeJS.ProcessEnv): void {
  const command = program.command('serve').description('run the server until SIGTERM');
  for (const setting of Object.values(settings)) addSetting(command, setting);
  command
    .addHelpText('after', `\nEnvironment only:\n${withoutFlag.map(([, { env, help }]) => `  ${env}  ${help}`).join('\n')}`)
    .hook('preAction', requireServerPlatform)
    .action(async () => {
      const { serve } = await import('./serve.js');
      await serve(parseConfig(textsOf(command, environment)), unknownVariables(program, environment));
    });
}

/** Variables that look like settings, but that no command reads. */
function unknownVariables(program: Command, environment: NodeJS.ProcessEnv): string[] {
  const optionVariables = (command: Command): (string | undefined)[] => [
    ...command.options.map(({ envVar }) => envVar),
    ...command.commands.flatMap(optionVariables),
  ];
  // `queue` sets the first two for its command, and reads the last one line by line.
  const others = ['BALLAST_BATCH', 'BALLAST_COMMAND_ID', 'BALLAST_PROOF_KEYS'];
  const known = new Set([...optionVariables(program), ...withoutFlag.map(([, { env }]) => env), ...others]);
  return Object.keys(environment).filter(name => name.startsWith('BALLAST_') && !known.has(name));
}

const withoutFlag = Object.entries(settings).filter(([, { flag }]) => flag === null);

/** The texts of a command's settings: its flags, and what the environment has. */
function textsOf(command: Command, environment: NodeJS.ProcessEnv): SettingTexts {
  const { ...texts }: SettingTexts = command.opts();
  for (const [name, { env }] of withoutFlag) if (environment[env] !== undefined) texts[name as keyof Config] = environment[env];
  // Images and units name a folder for those who give no database.
  if (texts.databaseUrl && command.getOptionValueSource('dataDir') === 'env') delete texts.dataDir;
  return texts;
}

/** Adds the commands on the store. They need no running server. */
function addStoreCommands(program: Command, environment: NodeJS.ProcessEnv): void {
  const addStoreCommand = onStore(environment);
  addProjectCommands(program, addStoreCommand);
  addTokenCommands(program, addStoreCommand);
  addStoreCommand(program, 'backup <folder>', 'copy the current state of the store into a folder, also while the server runs', (...args) =>
    untilSignal(async stop => (await import('./backup.js')).backup(...args, stop)),
  ).option('--json', 'print one JSON object');
  addStoreCommand(
    program,
    'check',
    'check that the store is consistent, also while the server runs (exit code 1: it is not)',
    (source, _, options) => untilSignal(async stop => (await import('./check.js')).check(source, options, stop)),
  )
    .option('--repair', 'rebuild records that can be derived from others; stop the server first')
    .option('--json', 'print one JSON object');
  addStoreCommand(program, 'rotate-receipt-key', 'sign receipts with another key; the one before stays listed', async source =>
    (await import('./receipt-key.js')).rotateKey(source, environment[settings.receiptKeyFile.env]),
  );
  addStoreCommand(program, 'export', 'write builds and timings as lines of JSON, also while the server runs', (source, _, options) =>
    untilSignal(async stop => (await import('./export.js')).exportStore(source, options as unknown as ExportOptions, stop)),
  )
    .option('--project <name>', 'export this project only')
    .option('--output <file>', 'write to this file (- is stdout); an existing file is replaced when the new one is complete')
    .option('--no-builds', 'leave out the builds')
    .option('--no-timings', 'leave out the timings')
    .option('--json', 'print one JSON object about the file');
}

/** Adds the command that moves a store. It needs a folder and a database. */
function addMoveCommand(program: Command, environment: NodeJS.ProcessEnv): void {
  const command = program
    .command('move')
    .description('copy the store of a folder to an empty database (BALLAST_DATABASE_URL), or back; stop the servers first')
    .addArgument(new Argument('<direction>', 'where to').choices(['to-database', 'to-folder']))
    .option('--json', 'print one JSON object');
  addSetting(command, settings.dataDir);
  command
    .hook('preAction', requireServerPlatform)
    .action(async (direction: Direction, { dataDir, ...options }: MoveOptions & { dataDir?: string }) => {
      const { databaseUrl, databasePasswordFile, databaseCa } = textsOf(command, environment);
      const source = sourceOf(parseConfig({ databaseUrl, databasePasswordFile, databaseCa }));
      if ('dataDir' in source) throw new UsageError(['BALLAST_DATABASE_URL is not set: "move" needs the database, besides the folder']);
      const folder = parseConfig({ dataDir }).dataDir;
      await untilSignal(async stop => (await import('./move.js')).moveStore(direction, folder, source, options, stop));
    });
}

const loadProject = () => import('./project.js');

const settingsHelp = Object.entries(settingDefinitions)
  .map(([name, { help }]) => `  ${name}  ${help}`)
  .join('\n');

function addProjectCommands(program: Command, addStoreCommand: AddCommand): void {
  const project = program.command('project').description('create, list, rename and delete projects');
  addStoreCommand(project, 'create <name>', 'create a project and print its test-suite token', async (...args) =>
    (await loadProject()).createProjectWithToken(...args),
  ).option('--json', 'print JSON');
  addStoreCommand(project, 'list', 'list the projects', async (...args) => (await loadProject()).printProjects(...args)).option(
    '--json',
    'print JSON',
  );
  const rename: Command = addStoreCommand(project, 'rename <name> <new-name>', 'give a project another name', async (source, name, flags) =>
    (await loadProject()).rename(source, name, rename.args[1]!, flags),
  ).option('--json', 'print JSON');
  addStoreCommand(project, 'delete <name>', 'delete a project with its tokens and all that it recorded', async (source, name, flags) =>
    (await loadProject()).deleteNamed(source, name, flags as DeleteOptions),
  )
    .option('--confirm <name>', 'the name of the project again, where nobody can be asked')
    .option('--json', 'print JSON');
  addStoreCommand(project, 'default-branch <name>', 'print the default branch of a project, or set it', async (source, name, flags) =>
    (await loadProject()).defaultBranch(source, name, flags as DefaultBranchOptions),
  )
    .option('--set <branch>', 'set it')
    .option('--unset', 'let recorded builds decide again')
    .option('--json', 'print JSON');
  const change: Command = addStoreCommand(
    project,
    'settings <name> [name=value...]',
    'print what is set for a project, or set it: price, links, target, webhook',
    async (source, name, flags) => (await loadProject()).changeProjectSettings(source, name, change.args.slice(1), flags),
  )
    .option('--json', 'print JSON')
    .addHelpText('after', `\nSettings:\n${settingsHelp}\nAn empty value unsets one: price=`);
  addStoreCommand(
    project,
    'webhook-test <name>',
    'send a test to the webhook of a project, once (exit code 1: not taken)',
    async (...args) => (await loadProject()).testWebhook(...args),
  ).option('--json', 'print JSON');
}

function addTokenCommands(program: Command, addStoreCommand: AddCommand): void {
  const token = program.command('token').description('create, list and revoke test-suite tokens');
  addStoreCommand(token, 'create <project>', 'create another token for a project and print it', async (source, project, flags) =>
    (await loadProject()).createProjectToken(source, project, flags as TokenOptions),
  )
    .option('--name <name>', 'what the token is for, as lists show it')
    .option('--public', 'create a token that anyone may read, for pull requests from forks')
    .option('--json', 'print JSON');
  addStoreCommand(token, 'list <project>', 'list the tokens of a project: id, creation, last use, state, kind, name', async (...args) =>
    (await loadProject()).printTokens(...args),
  ).option('--json', 'print JSON');
  addStoreCommand(token, 'revoke <token-or-id>', 'revoke a token: the next request with it is refused', async (...args) =>
    (await loadProject()).revoke(...args),
  ).option('--json', 'print JSON');
}

type AddCommand = (
  parent: Command,
  usage: string,
  description: string,
  run: (source: StoreSource, argument: string, flags: Record<string, true>) => Promise<void>,
) => Command;

/** Returns what adds a command on the store. It is given its first argument, and the flags. */
const onStore =
  (environment: NodeJS.ProcessEnv): AddCommand =>
  (parent, usage, description, run) => {
    const command = parent.command(usage).description(description);
    addSetting(command, settings.dataDir);
    command.hook('preAction', requireServerPlatform).action(async (...args: unknown[]) => {
      const { dataDir: _, ...flags } = command.opts<{ dataDir?: string }>();
      const { dataDir, databaseUrl, databasePasswordFile, databaseCa } = textsOf(command, environment);
      await run(
        sourceOf(parseConfig({ dataDir, databaseUrl, databasePasswordFile, databaseCa })),
        typeof args[0] === 'string' ? args[0] : '',
        flags,
      );
    });
    return command;
  };

const loadDashboard = () => import('./dashboard.js');

/** Adds the commands for those who use the dashboard. */
function addDashboardCommands(program: Command, environment: NodeJS.ProcessEnv): void {
  const addStoreCommand = onStore(environment);
  const dashboard = program.command('dashboard').description('sign in to the dashboard, and list and end sessions');
  const link = addStoreCommand(
    dashboard,
    'link',
    'print a link that signs in: an operator, once within 10 minutes',
    async (source, _, flags) => (await loadDashboard()).createSignInLink(source, flags as LinkOptions),
  )
    .option('--project <name>', 'make a link that shows only this project, read-only, any number of times')
    .option('--days <number>', 'days until a link with --project expires, at most 365 (default: 30)', wholeNumber('days'))
    .option('--json', 'print JSON');
  addSetting(link, settings.publicUrl);
  addStoreCommand(dashboard, 'password', 'set a password for operators, typed or read from stdin', async (source, _, flags) =>
    (await loadDashboard()).changePassword(source, flags),
  ).option('--remove', 'remove the password: only links sign in');
  addStoreCommand(dashboard, 'sessions', 'list the sessions and links in force', async (source, _, flags) =>
    (await loadDashboard()).printSessions(source, flags),
  ).option('--json', 'print JSON');
  addStoreCommand(dashboard, 'end <id>', 'end a session, or revoke a link and end its sessions', async (source, id) =>
    (await loadDashboard()).endSessionOrLink(source, id),
  );
}

/** Adds the flag of a setting, if the setting has one. */
function addSetting(command: Command, { flag, env, defaultText, help }: Setting): void {
  if (flag === null) return;
  command.addOption(new Option(flag, `${help} (default: ${defaultText || 'none'})`).env(env));
}
