import { type Command, Option } from 'commander';
import { version } from '../../base/version.js';
import { type IdentityField, identityFields } from '../../node/ci/identity.js';
import { parseServer } from '../../node/client/address.js';
import { formats } from '../../node/reports/format.js';
import { wholeNumber } from '../process/whole-number.js';
import { type ClientOptions, duration, maxAge, retriesOption, timeLimitOption } from './options.js';

/** The parts of the process that the commands of a CI node get. */
export interface NodeContext {
  environment: NodeJS.ProcessEnv;
  /** The arguments after `--`: the command that `queue` runs, or that `plan` writes into a pipeline. */
  testCommand: readonly string[];
}

const EXIT_CODES_HELP =
  '\nExit codes: 0 done; 1 tests failed, are missing, or are in no report, the build is not known, or no number of nodes is enough; 2 wrong usage, no test files or reports, or another list of test files than the other nodes have; 3 the server refused, was not reached, or is not a Ballast server.';

/** Adds the commands of a CI node. */
export function addNodeCommands(program: Command, context: NodeContext): void {
  addSplit(program, context);
  addQueue(program, context);
  addRecord(program, context);
  addVerify(program, context);
  addProved(program, context);
  addPlan(program, context);
  addSummary(program, context);
  addFlaky(program, context);
  addDoctor(program, context);
  addAgain(program, context);
  addMcp(program, context);
  addImport(program);
  addReceipt(program, context);
}

function addSplit(program: Command, context: NodeContext): void {
  const command = addNodeCommand(program, 'split [globs...]', 'print the test files of this node, by a split made once per build');
  addListFlags(command)
    .option('-0, --null', 'end each path with NUL instead of a line break')
    .option(
      '--format <template>',
      'template of each printed line: {path} and {seconds}, the expected duration (empty if it was never measured)',
      '{path}',
    )
    .option('--dynamic', 'make a new split for each --build-id instead of one split for the commit')
    .option('--json', 'print one JSON object')
    .action(async (globs: string[], flags) => (await import('./split.js')).split(globs, clientOptions(flags, context)));
}

function addQueue(program: Command, context: NodeContext): void {
  const command = addNodeCommand(
    program,
    'queue [globs...]',
    'run a command for each batch of this node until the queue is empty, and record the times: ballast queue GLOB... -- COMMAND... {}',
  );
  addPolicyFlags(addListFlags(command))
    .option(
      '--junit <glob>',
      'reports that the command writes, with the times and failures of its files: JUnit XML, TRX, output of go test, JSON of RSpec, Mocha, Jest, vitest or CTRF, or events of dart test; may be repeated',
      collect,
    )
    .option('--pieces', 'run each long test file in pieces, on several nodes at once; needs --junit, and all nodes of a CI run need it')
    .addOption(timeLimitOption())
    .addOption(
      new Option(
        '--order <name>',
        'order of the test files: failing-first (default): first those that failed in the newest run of the branch, then those never measured; or slowest-first',
      )
        .choices(['failing-first', 'slowest-first'])
        .env('BALLAST_ORDER'),
    )
    .option(
      '--proved',
      'leave out the test files that have passed in the very tree that is checked out, with the same --proof-key: for a red CI run that is started again; give it to all nodes',
    )
    .option('--max-age <duration>', 'with --proved: how long ago these CI runs may have begun: s, m, h or d (default: 7d)', maxAge)
    .option(
      '--retry-failed',
      'when no other file is left, retry once each test file that failed, on another node if one is free: at most 10 files; needs --junit; give it to all nodes',
    )
    .option('--flaky-passes', 'with --retry-failed: a test file that passes in its retry does not fail the node; the gate names it')
    .addHelpText(
      'after',
      '\nIn COMMAND, {} becomes the files of a batch, {,} within an argument all of them with commas, and {file} within an argument the path of a file that has them, one a line; {file} cannot be used with {} or {,}. BALLAST_BATCH is the batch’s number.',
    )
    .action(async (globs: string[], flags) =>
      (await import('./queue.js')).queue(globs, context.testCommand, clientOptions({ junit: [], ...flags }, context)),
    );
}

function addRecord(program: Command, context: NodeContext): void {
  const command = addNodeCommand(program, 'record <reports...>', 'record the times of the tests that this node ran, from their reports', [
    'nodeIndex',
    'nodeTotal',
    'branch',
    'commitHash',
  ]);
  const { flag, variable } = identityFields.buildId;
  addPolicyFlags(command)
    .addOption(
      new Option(flag, 'the id of the CI run, as given to split: the times then count only for this CI run')
        .env(variable)
        .argParser(trimmed),
    )
    .option('--files-from <file>', 'file with the test files that the node was given (- is stdin); reports are matched to them')
    .option(
      '--exit-code <number>',
      'exit code of the command that ran the tests: with 0, files in no report are recorded as having nothing to run, and a failure in a report ends record with 1',
      wholeNumber(),
    )
    .option('--json', 'print one JSON object')
    .action(async (reports: string[], flags) => (await import('./record.js')).record(reports, clientOptions(flags, context)));
}

function addVerify(program: Command, context: NodeContext): void {
  addNodeCommand(
    program,
    'verify',
    'ask a server whether every test file of a CI run was run and recorded (exit code 1: no, or the CI run is not known; 3: the server could not be asked)',
    ['nodeTotal', 'buildId', 'branch', 'commitHash'],
  )
    .option('--node-build-id <id>', 'ask about the queue with this id, not about a split')
    .option('--ci-build-id <id>', 'ask about the split with this id, not about a queue')
    .option('--newest', 'ask about the newest queue or split of the build, of any CI run')
    .option('--allow-empty', 'count a test file that was recorded with a time of 0 only as run')
    .addOption(mayBeEmptyOption())
    .option(
      '--max-muted <number>',
      'fail when the CI run has more muted failures than this, or .ballast/muted has more lines (exit code 1)',
      wholeNumber('muted failures'),
    )
    .addOption(
      new Option(
        '--fail-on-flaky <which>',
        'fail when a test file passed only in its retry, and is new: the default branch never measured it (exit code 1)',
      ).choices(['new']),
    )
    .option('--wait <seconds>', 'seconds to wait for nodes that have not recorded yet', wholeNumber('seconds'), 0)
    .addOption(
      new Option(
        '--format <name>',
        'print the answer as text, as annotations of GitHub Actions, or as a JUnit report: one for each missing file',
      )
        .choices(['text', 'github', 'junit'])
        .default('text'),
    )
    .addOption(new Option('--json', 'print the answer as one JSON object').conflicts('format'))
    .action(async flags => (await import('./verify.js')).verify(clientOptions(flags, context)));
}

function addProved(program: Command, context: NodeContext): void {
  addNodeCommand(
    program,
    'proved [globs...]',
    'ask whether the test files are known to pass in the very tree that is checked out (exit code 1: no, or there is a doubt)',
    ['buildId', 'branch', 'commitHash'],
  )
    .option('--stdin', 'read the test files from stdin as literal paths, one a line or separated by NUL (same as -)')
    .addOption(proofKeyOption())
    .addOption(
      new Option('--max-age <duration>', 'how long ago the CI run may have begun that proves it: s, m, h or d')
        .argParser(maxAge)
        .default(maxAge('7d'), '7d'),
    )
    .option('--flaky-passes', 'accept test files that passed only when they were tried again')
    .addOption(
      new Option(
        '--format <name>',
        'print the answer as text; or write proved=true or proved=false as an output of a step of GitHub Actions, too',
      )
        .choices(['text', 'github'])
        .default('text'),
    )
    .option('--json', 'print the answer as one JSON object')
    .action(async (globs: string[], flags) => (await import('./proved.js')).proved(globs, clientOptions(flags, context)));
}

function proofKeyOption(): Option {
  return new Option(
    '--proof-key <text>',
    'what else the tests depend on, such as an image or a version: a proof needs the same (a hash is sent); may be repeated (env: BALLAST_PROOF_KEYS, one a line)',
  ).argParser(collect);
}

function addPlan(program: Command, context: NodeContext): void {
  addNodeCommand(
    program,
    'plan [globs...]',
    'forecast how long the test files take with each number of nodes (without globs: the files of the newest build)',
    ['branch'],
  )
    .option('--stdin', 'read the test files from stdin as literal paths, one a line or separated by NUL (same as -)')
    .option('--nodes <numbers>', 'numbers of nodes: a range such as 2..64, or a list such as 4,8,12')
    .option(
      '--within <duration>',
      'print the least number of nodes that ends within this time, such as 90s or 10m (exit code 1: none does)',
      duration,
    )
    .addOption(new Option('--mode <name>', 'how the nodes get their files').choices(['queue', 'split']).default('queue'))
    .option('--start-spread <duration>', 'time over which the nodes start (default: as in the newest build)', duration)
    .option('--pull-cost <duration>', 'time that a node loses with each batch (default: as in the newest build)', duration)
    .option(
      '--setup <duration>',
      'time that a job takes before its node starts; it counts in the node-minutes, and against more nodes (default: that of the project, else 30s against more nodes)',
      duration,
    )
    .addOption(
      new Option(
        '--default <n>',
        'number of nodes to start while most test files were never measured, or if the server does not answer (without it: exit code 1 or 3)',
      )
        .argParser(wholeNumber('nodes', 1))
        .conflicts('json'),
    )
    .addOption(
      new Option(
        '--format <name>',
        'print that number of nodes for a CI system: a matrix, a child pipeline, or a step to upload; without --within the number beyond which more nodes bring little',
      ).choices(['github', 'gitlab', 'buildkite']),
    )
    .option('--template <file>', 'with --format gitlab: the file of the repository that defines the job .tests', '.gitlab/tests.yml')
    .option('--json', 'print the answer as one JSON object')
    .addHelpText('after', '\nWith --format buildkite, the command of the step follows --: ballast plan --format buildkite -- COMMAND...')
    .action(async (globs: string[], flags) => (await import('./plan.js')).plan(globs, context.testCommand, clientOptions(flags, context)));
}

function addSummary(program: Command, context: NodeContext): void {
  addNodeCommand(
    program,
    'summary [build]',
    'print where the time of a build went, as Markdown for a job summary or a comment; build: the id of a build or CI run on the server (default: that of this CI run)',
    ['nodeTotal', 'buildId', 'branch', 'commitHash'],
  )
    .option('--newest', 'the newest CI run of the build, whatever its id')
    .option('--comment', 'also write it to the pull request or merge request of this job, in one comment that each run updates')
    .option('--json', 'print one JSON object')
    .action(async (build: string | undefined, flags) => (await import('./summary.js')).summary(build, clientOptions(flags, context)));
}

function addFlaky(program: Command, context: NodeContext): void {
  addNodeCommand(program, 'flaky', 'list the flaky test files of the project by what they cost, and outages', [])
    .option('--limit <number>', 'list at most this many test files', wholeNumber('test files', 1), 50)
    .option('--json', 'print the answer as one JSON object')
    .action(async flags => (await import('./flaky.js')).flaky(clientOptions(flags, context)));
}

function addDoctor(program: Command, { environment, testCommand }: NodeContext): void {
  const command = program
    .command('doctor [globs...]')
    .description(
      'say before the first run what would go wrong with the arguments of queue: ballast doctor GLOB... --junit GLOB -- COMMAND... {}',
    );
  // Those flags of queue that change no finding are taken, too: its arguments then need no editing.
  addPolicyFlags(addListFlags(addIdentityFlags(command, Object.keys(identityFields) as IdentityField[])))
    .addOption(retriesOption())
    .option('--junit <glob>', 'reports that the command writes; may be repeated', collect)
    .option('--pieces', 'check whether the command can run long test files in pieces')
    .addOption(timeLimitOption())
    .option('--environment <file>', 'read the variables of the node from a file that env or env -0 wrote, not from this process')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nNothing is run or recorded. The flags of queue that change no finding are ignored. Exit codes: 0 a run would work; 1 a run would go wrong; 2 wrong usage.',
    )
    .action(async (globs: string[], flags: { junit?: string[]; url?: string; token?: string }) => {
      // The variables of Ballast may be those of the file, and the findings name them.
      const given = Object.entries(flags).filter(([name]) => command.getOptionValueSource(name) === 'cli');
      const options = { junit: [], ...Object.fromEntries(given), clientVersion: version };
      await (await import('./doctor.js')).doctor(globs, testCommand, options, environment);
    });
}

function addAgain(program: Command, context: NodeContext): void {
  const command = program
    .command('again [build]')
    .description(
      'print what a node of a CI run ran, or run it here in the same order: ballast again --node INDEX -- COMMAND... {}; build: the id of a build or CI run on the server (default: the newest of the commit and branch that are checked out)',
    );
  addIdentityFlags(command, ['buildId', 'branch', 'commitHash'])
    .addOption(new Option('--node <index>', 'the node (from 0)').argParser(wholeNumber()).makeOptionMandatory())
    .option('--file <path>', 'only the batch that had this test file, up to this file')
    .option(
      '--bisect',
      'find the test file that makes that of --file fail, by halving the files before it (default for --file: the only file that failed on the node)',
    )
    .option('--junit <glob>', 'reports that the command writes, as for queue; may be repeated', collect)
    .addOption(timeLimitOption())
    .addOption(retriesOption())
    .addHelpText(
      'after',
      '\nNothing is recorded. COMMAND is that of queue; without it, the test files are printed, a line for each batch. Exit codes: 0 all passed, or with --bisect, the file failed here, alone or with files that are named; 1 a test file failed, or with --bisect, it did not fail or nothing is found; or the build is not known; 2 wrong usage, or the node had no such file; 3 the server refused, was not reached, or is not a Ballast server.',
    )
    .action(async (build: string | undefined, flags) =>
      (await import('./again.js')).again(build, context.testCommand, clientOptions({ junit: [], ...flags }, context)),
    );
}

function addMcp(program: Command, context: NodeContext): void {
  addServerFlags(
    program
      .command('mcp')
      .description('answer language models about builds, on stdin and stdout, as a server of the Model Context Protocol; it only reads'),
  )
    .addOption(retriesOption())
    .addHelpText('after', '\nThe program of the language model starts it. It ends with stdin, with exit code 0; 2 is wrong usage.')
    .action(async flags => (await import('./mcp.js')).mcp(clientOptions(flags, context)));
}

/** Adds a command with the flags of the server and of the node's identity, all of them unless `fields` names some. */
function addNodeCommand(
  program: Command,
  usage: string,
  description: string,
  fields = Object.keys(identityFields) as IdentityField[],
): Command {
  return addIdentityFlags(program.command(usage).description(description), fields)
    .addOption(retriesOption())
    .addHelpText('after', EXIT_CODES_HELP);
}

function addIdentityFlags(command: Command, fields: readonly IdentityField[]): Command {
  addServerFlags(command);
  for (const field of fields) {
    const { flag, variable, description } = identityFields[field];
    command.addOption(new Option(flag, `${description} (default: from the CI system)`).env(variable).argParser(trimmed));
  }
  return command;
}

function addServerFlags(command: Command): Command {
  return command
    .addOption(new Option('--url <address>', 'address of the server').env('BALLAST_URL'))
    .addOption(new Option('--token <token>', 'test-suite token of the project').env('BALLAST_TOKEN'));
}

function addListFlags(command: Command): Command {
  return command
    .option('--stdin', 'read the test files from stdin as literal paths, one a line or separated by NUL (same as -)')
    .option('--fallback', 'when the server cannot be reached, run all test files that this node has not run (default: fail)')
    .addOption(proofKeyOption());
}

function addPolicyFlags(command: Command): Command {
  return command
    .option(
      '--trust-exit-code',
      'let only the exit code of the command decide: ignore failures in reports (for test runners that report retried or expected failures)',
    )
    .option('--fail-unreported', 'fail when no report mentions a test file: the file counts as not run')
    .addOption(mayBeEmptyOption());
}

function mayBeEmptyOption(): Option {
  return new Option(
    '--may-be-empty <glob>',
    'test files that may have nothing to run: in no report, they count as run; may be repeated',
  ).argParser(collect);
}

/** Collects the values of a flag that may be repeated. */
function collect(value: string, others: string[] = []): string[] {
  return [...others, value];
}

function clientOptions<Flags extends { url?: string; token?: string }>(
  flags: Flags,
  { environment }: NodeContext,
): Flags & Pick<ClientOptions, 'url' | 'token' | 'environment' | 'clientVersion'> {
  return { ...flags, ...parseServer(flags), environment, clientVersion: version };
}

/** Secrets of CI systems often end with a line break, and variables of cmd.exe (set NAME=1 && ...) with a space. */
function trimmed(text: string): string {
  return text.trim();
}

function addImport(program: Command): void {
  program
    .command('import [files...]')
    .description('import timings recorded by other tools, so that the first split is balanced; - is stdin')
    .addOption(new Option('--url <address>', 'address of the server to import into').env('BALLAST_URL').argParser(trimmed))
    .addOption(new Option('--token <token>', 'test-suite token of the project to import into').env('BALLAST_TOKEN').argParser(trimmed))
    .addOption(new Option('--format <name>', 'report format (default: detected from the content)').choices(formats))
    .option('--root <folder>', 'folder that paths are relative to, for reports with absolute paths (default: the current folder)')
    .option('--files-from <file>', 'file with the test files as the nodes list them (- is stdin); reports are matched to them')
    .option('--cases', 'import test cases one by one instead of the sum of each file')
    .option('--commit-hash <hash>', 'commit to record reports under (default: import- and a digest of the timings)')
    .option('--branch <name>', 'branch to record reports under', 'main')
    .option('--project <name>', 'project to import from an export that has several')
    .option('--from <address>', 'address of another server of the same protocol; its builds are imported instead of files', trimmed)
    .addOption(
      new Option('--from-token <token>', 'test-suite token of the project on that server').env('BALLAST_FROM_TOKEN').argParser(trimmed),
    )
    .option('--builds <number>', 'number of newest builds to import from that server', wholeNumber('builds'))
    .addOption(retriesOption())
    .option('--dry-run', 'read the files and print what would be imported, but record nothing')
    .option('--json', 'print one JSON object')
    .action(async (files: string[], flags) => (await import('./import.js')).importTimings(files, { ...flags, clientVersion: version }));
}

function addReceipt(program: Command, context: NodeContext): void {
  const receipt = program.command('receipt').description('get and check receipts of how the test files of a CI run ended');
  addIdentityFlags(
    receipt
      .command('get [build]', { isDefault: true })
      .description(
        'get the signed receipt of a CI run; build: the id of a build or CI run on the server (default: this CI run; exit code 1: there is none)',
      ),
    ['buildId', 'branch', 'commitHash'],
  )
    .option('--output <file>', 'write it to this file')
    .addOption(retriesOption())
    .addHelpText('after', EXIT_CODES_HELP)
    .action(async (build: string | undefined, flags) => (await import('./receipt.js')).getReceipt(build, clientOptions(flags, context)));
  addServerFlags(receipt.command('key').description('print the public keys that check receipts, in PEM: first the one that signs now'))
    .addOption(retriesOption())
    .addHelpText('after', EXIT_CODES_HELP)
    .action(async flags => (await import('./receipt.js')).printReceiptKeys(clientOptions(flags, context)));
  receipt
    .command('verify <file>')
    .description('check that a receipt was signed with a key, and print what it says; - is stdin; no server is asked')
    .requiredOption('--public-key <file>', 'file with a public key of Ed25519 in PEM; may be repeated: one of the keys is enough', collect)
    .option('--json', 'print the signed statement as one JSON object')
    .addHelpText(
      'after',
      '\nExit codes: 0 the receipt is genuine, and no test failed; 1 it is not genuine, or tests failed; 2 wrong usage, or a file cannot be read.',
    )
    .action(async (file: string, flags) => (await import('./receipt.js')).verifyReceipt(file, flags));
}
