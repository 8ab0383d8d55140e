import { Command, Option } from 'commander';
import { exitOnSignals } from '../test/testbed/cleanup.js';
import { numberParser, positiveInteger } from '../test/testbed/option-parsers.js';
import { readHistories, readSuites } from '../test/testbed/suites.js';
import { chaos } from './chaos.js';
import { cutting } from './cutting.js';
import { database } from './database.js';
import { estimating } from './estimating.js';
import { growing } from './growing.js';
import { initializing } from './initializing.js';
import { isolation } from './isolation.js';
import { latency } from './latency.js';
import { trials } from './load/trials.js';
import { memory } from './memory.js';
import { neighbours } from './neighbours.js';
import { packing } from './packing.js';
import { planning } from './planning.js';
import { requests } from './requests.js';
import { printResult, type Result, writeResult } from './results.js';
import { retrying } from './retrying.js';
import { soak } from './soak.js';
import { starting } from './starting.js';
import { whatIf } from './what-if.js';

/** Measures the figures of src/docs/reference/benchmarks.md. */

exitOnSignals();

const positive = numberParser(value => value > 0 && value <= 86_400, 'It must be more than 0 and at most 86400.');

const program = new Command('npm run bench --')
  .description(
    'Measure the speed of requests, and the quality of splits, queues and estimates. ' +
      'Without a command: run every trial of speed, in sequence.',
  )
  // Options after a command belong to the command.
  .enablePositionalOptions()
  .showHelpAfterError('(add --help for the usage)');

/** The trials of speed, in the order of a run without a command. */
const speed: { command: Command; run: Run }[] = [];
type Run = (chosen: string[], options: any) => Promise<Result[]>;

const cpuProf = ['--cpu-prof <folder>', 'folder for CPU profiles of the server, for Chrome DevTools or speedscope'] as const;
const connections = ['--connections <number>', 'number of connections, each with one request at a time', positiveInteger, 64] as const;
const times = ['--times <number>', 'repetitions of each', positiveInteger] as const;

const helpOfTrials = Object.entries(trials).map(([name, { about }]) => `  ${name.padEnd(11)}${about}`);
speedTrial('requests', 'requests per second of each kind over each HTTP server, compared with a bare handler and with Redis', requests)
  .argument('[trials...]', 'trials to run (default: all)')
  .option(
    '--seconds <number>',
    'duration of the load on each server of a trial, in three rounds, which wrk rounds up to whole seconds',
    positive,
    8,
  )
  .option(...connections)
  .addOption(
    new Option('--http-server <name>', 'HTTP server to load')
      .choices(['uwebsockets', 'node'])
      .default('auto', 'each one that runs on this machine'),
  )
  .option(...cpuProf)
  .addHelpText('after', `\nTrials:\n${helpOfTrials.join('\n')}`)
  .addHelpText(
    'after',
    '\nGenerators: wrk, or raw sockets of Node where wrk is not installed. Where redis-server is installed, the trial\n' +
      'pulls has a row of Redis, and one of Ballast, both loaded over raw sockets. A row is void if its generator was the limit.',
  );
speedTrial('latency', 'latencies at 500, 2,000 and 5,000 requests per second, compared with a bare handler', latency)
  .argument('[requests...]', 'pulls, splits, recording (default: all)')
  .option('--seconds <number>', 'duration of the load at each rate on each of the servers, in three rounds', positive, 6);
speedTrial(
  'initializing',
  'time to create a queue or a split from 10,000 and from 100,000 files, of a list that is new, that changed, or the same again',
  (_, options) => initializing(options),
).option(...times, 20);
speedTrial('isolation', 'delay of the main thread and of small pulls while large suites arrive', (_, options) => isolation(options)).option(
  '--seconds <number>',
  'duration of each of the three loads',
  positive,
  30,
);
speedTrial('neighbours', 'delay of small pulls of one project while another sends the largest requests of each kind', (chosen, options) =>
  neighbours({ chosen, ...options }),
)
  .argument('[requests...]', 'kinds of requests (default: all)')
  .option('--seconds <number>', 'duration of each load', positive, 4)
  .option('--loops <number>', 'requests at a time', positiveInteger, 8);
speedTrial('database', 'pulls and recordings with the store in PostgreSQL on this machine, beside those with a folder', (_, options) =>
  database(options),
)
  .option('--answers <number>', 'answers of each server in each of three rounds', positiveInteger, 16_000)
  .option(...connections)
  .option(...cpuProf);
speedTrial(
  'growing',
  'time of the first large requests to a new folder and to a new database in PostgreSQL, and of small ones beside them',
  (_, options) => growing(options),
)
  .option('--files <number>', 'files of a large request', positiveInteger, 100_000)
  .option('--small <number>', 'small requests before them', positiveInteger, 3000);
speedTrial('what-if', 'time to play 10,000 files with 1 to 64 nodes', (_, options) => whatIf(options)).option(...times, 20);
speedTrial('memory', 'memory of a server with many open queues of 1,000 files', async (_, { queues, soakMinutes }) => [
  ...(await memory({ queues })),
  ...(soakMinutes === undefined ? [] : await soak({ minutes: soakMinutes })),
])
  .option('--queues <number>', 'number of open queues', positiveInteger, 10_000)
  .option('--soak-minutes <number>', 'then run a mixed load for this time, and measure the growth of memory', positive);
speedTrial(
  'starting',
  'start time of the server with an empty folder and with many builds and queues, compared with `node -e 0`',
  (_, options) => starting(options),
)
  .option('--builds <number>', 'recorded builds in the full folder', positiveInteger, 100_000)
  .option(...times, 5);

program
  .option('--write', 'write the results to bench/RESULTS.md')
  .allowExcessArguments()
  .hook('preSubcommand', () => {
    if (program.opts<{ write?: true }>().write) program.error('bench: --write must come after the command');
  })
  .action(async ({ write }: { write?: true }) => {
    const [unknown] = program.args;
    if (unknown !== undefined) throw new Error(`there is no command "${unknown}": "npm run bench -- --help" lists them`);
    for (const { command, run } of speed) {
      try {
        report(await run([], command.opts()), [], { write });
      } catch (error) {
        // A failed trial does not affect the others.
        reportError(`${command.name()}: ${(error as Error).message}`);
      }
    }
  });

const FOLDER = 'recorded suites: FILE.json {"timings": {path: seconds}}, history/FILE.json {"versions": [{"date", "timings"}]}';
quality('packing', 'evenness of regular splits, compared with other algorithms', folder =>
  packing(nonEmpty(readSuites(folder), folder, 'FILE.json')),
);
quality('cutting', 'what pieces of long files gain in suites that were recorded by test cases', folder => [
  cutting(nonEmpty(readSuites(folder), folder, 'FILE.json')),
]);
quality('chaos', 'builds of queues whose nodes leave: how much longer they take, and whether each file runs', folder =>
  chaos(nonEmpty(readSuites(folder), folder, 'FILE.json')),
);
quality('planning', 'evenness of queues in simulated builds, compared with other batch sizes', folder =>
  planning(nonEmpty(readSuites(folder), folder, 'FILE.json'), readHistories(folder)),
);
quality('retrying', 'how much later a build ends in which a file fails and is retried', folder => [
  retrying(nonEmpty(readSuites(folder), folder, 'FILE.json')),
]);
quality('estimating', 'errors of estimated times, and their effect on splits', folder =>
  estimating(nonEmpty(readHistories(folder), folder, 'history/FILE.json')),
);

try {
  await program.parseAsync();
} catch (error) {
  reportError((error as Error).message);
}

function trial(name: string, about: string): Command {
  return program.command(name).description(about).option('--write', 'write the results to bench/RESULTS.md');
}

function speedTrial(name: string, about: string, run: Run): Command {
  const command = trial(name, about);
  speed.push({ command, run });
  return command.action(async () => {
    const { args } = command;
    const options = command.opts<{ write?: true }>();
    report(await run(args, options), [name, ...args, ...flagsOf(command)], options);
  });
}

function quality(name: string, about: string, run: (folder: string) => Result[]): void {
  trial(name, about)
    .argument('<folder>', FOLDER)
    .action((folder: string, options: { write?: true }) => report(run(folder), [name, 'FOLDER'], options));
}

function flagsOf(command: Command): string[] {
  const options = command.opts<Record<string, unknown>>();
  return command.options.flatMap(option => {
    const value = options[option.attributeName()];
    return typeof value === 'number' || option.argChoices?.includes(String(value)) ? [`${option.long} ${String(value)}`] : [];
  });
}

function nonEmpty<T>(found: readonly T[], folder: string, pattern: string): readonly T[] {
  if (found.length === 0) throw new Error(`there is no ${pattern} in ${folder}: --help shows what the folder must contain`);
  return found;
}

function report(results: Result[], args: string[], { write }: { write?: true | undefined }): void {
  for (const result of results) {
    printResult(result);
    if (write) writeResult(result, ['npm run bench', ...(args.length > 0 ? ['--', ...args] : [])].join(' '));
  }
}

function reportError(sentence: string): void {
  process.stderr.write(`bench: ${sentence}\n`);
  process.exitCode = 1;
}
