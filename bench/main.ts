import { Command, Option } from 'commander';
import { disk } from './disk.js';
import { estimating } from './estimating.js';
import { number, whole } from './flags.js';
import { initializing } from './initializing.js';
import { isolation } from './isolation.js';
import { listing } from './listing.js';
import { exitOnSignals } from './load/cleanup.js';
import { SeededFolders } from './load/seeded-folders.js';
import { trials } from './load/trials.js';
import { memory } from './memory.js';
import { packing } from './packing.js';
import { planning } from './planning.js';
import { type Extent, requests } from './requests.js';
import { print, record, type Result } from './results.js';
import { soak } from './soak.js';
import { starting } from './starting.js';
import { readHistories, readSuites } from './suites/suites.js';
import { sweeping } from './sweeping.js';

/** Every figure that the README gives, measured again. */

exitOnSignals();

const positive = number(value => value > 0 && value <= 86_400, 'It must be more than 0.');

const program = new Command('npm run bench --')
  .description(
    'Measure how fast requests are answered, and how good splits, queues and estimates are. ' +
      'Without a command: every trial of speed, one after the other.',
  )
  // A flag after a command is the command's.
  .enablePositionalOptions()
  .showHelpAfterError('(add --help for the usage)');

const BUILDS = ['--builds <number>', 'recorded builds in the folder, which takes minutes to make', whole, 1_000_000] as const;
const seeds = new SeededFolders();

/** The trials of speed, in the order in which all of them are run. */
const speed: { command: Command; run: Run }[] = [];
type Run = (chosen: string[], options: any) => Promise<Result[]>;

const helpOfTrials = Object.entries(trials).map(([name, { about }]) => `  ${name.padEnd(11)}${about}`);
speedTrial('requests', 'requests a second of each kind over each HTTP server, beside a bare handler with the same bytes', (chosen, options: Extent) =>
  requests(chosen, options),
)
  .argument('[trials...]', 'kinds of request to run alone')
  .option('--seconds <number>', 'load on each of the two in a trial, in three rounds', positive, 8)
  .option('--connections <number>', 'open connections, each with one request at a time', whole, 64)
  .addOption(new Option('--http-server <name>', 'load this HTTP server only').choices(['uwebsockets', 'node']).default('auto', 'each that this machine has'))
  .option('--cpu-prof <folder>', 'write CPU profiles of the server there, for the DevTools or speedscope')
  .addHelpText('after', `\nTrials:\n${helpOfTrials.join('\n')}`);
speedTrial('initializing', 'how long suites of 10,000 and 100,000 files take to become a queue or a split', (_, { times }) =>
  initializing({ times }),
).option('--times <number>', 'how often each', whole, 20);
speedTrial('isolation', 'how late the main thread is, and small pulls are answered, while large suites come', (_, { seconds }) =>
  isolation({ seconds }),
).option('--seconds <number>', 'each of the three loads', positive, 30);
speedTrial('listing', 'lists of many builds, beside the same of 1,000', (_, { builds, seconds }) => listing({ builds, seconds }, seeds))
  .option(...BUILDS)
  .option('--seconds <number>', 'load on each of the two servers for each kind of list, in three rounds', positive, 6);
speedTrial('memory', 'memory of a server with many open queues of 1,000 files', async (_, { queues, soakMinutes }) => [
  ...(await memory({ queues })),
  ...(soakMinutes === undefined ? [] : await soak({ minutes: soakMinutes })),
])
  .option('--queues <number>', 'open queues', whole, 10_000)
  .option('--soak-minutes <number>', 'then put a mixed load on a server for so long, and see whether its memory grows', positive);
speedTrial('starting', 'how long the server takes to start, with an empty folder and with many builds and queues', (_, { builds, times }) =>
  starting({ builds, times }, seeds),
)
  .option(...BUILDS)
  .option('--times <number>', 'how often each', whole, 5);
speedTrial('disk', 'bytes on disk for each recorded time', ([folder], { times }) =>
  disk({ builds: times, ...(folder !== undefined && { suites: nonEmpty(readSuites(folder), folder, 'FILE.json') }) }),
)
  .argument('[folder]', 'recorded suites to measure too: FILE.json {"timings": {path: seconds}}')
  .option('--times <number>', 'builds that record each suite', whole, 200);
speedTrial('sweeping', 'how late the main thread is, and small pulls are answered, while what is old is deleted', (_, { records, seconds }) =>
  sweeping({ records, seconds }),
)
  .option('--records <number>', 'expired records', whole, 100_000)
  .option('--seconds <number>', 'the same load afterwards', positive, 20);

program
  .option('--write', 'write the results into bench/RESULTS.md')
  .option(...BUILDS)
  .allowExcessArguments()
  .action(async ({ write, ...shared }: { write?: true; builds: number }) => {
    const [unknown] = program.args;
    if (unknown !== undefined) throw new Error(`there is no command "${unknown}": see --help`);
    for (const { command, run } of speed) {
      try {
        report(await run([], { ...command.opts(), ...shared }), flagsOf(program), { write });
      } catch (error) {
        // The others say nothing about it, nor it about them.
        complain(`${command.name()}: ${(error as Error).message}`);
      }
    }
  });

const FOLDER = 'recorded suites: FILE.json {"timings": {path: seconds}}, history/FILE.json {"versions": [{"date", "timings"}]}';
quality('packing', 'how even regular splits are, beside other algorithms', folder => packing(nonEmpty(readSuites(folder), folder, 'FILE.json')));
quality('planning', 'how even queues end, in simulated builds, beside other batch sizes', folder =>
  planning(nonEmpty(readSuites(folder), folder, 'FILE.json'), readHistories(folder)),
);
quality('estimating', 'how near estimates come to the next times, and what that does to builds', folder =>
  estimating(nonEmpty(readHistories(folder), folder, 'history/FILE.json')),
);

try {
  await program.parseAsync();
} catch (error) {
  complain((error as Error).message);
} finally {
  await seeds.remove();
}

function trial(name: string, about: string): Command {
  return program.command(name).description(about).option('--write', 'write the results into bench/RESULTS.md');
}

function speedTrial(name: string, about: string, run: Run): Command {
  const command = trial(name, about);
  speed.push({ command, run });
  return command.action(async () => {
    const { args } = command;
    const options = command.opts<{ write?: true }>();
    const isFolder = command.registeredArguments[0]?.name() === 'folder';
    report(await run(args, options), [name, ...(isFolder ? args.map(() => 'FOLDER') : args), ...flagsOf(command)], options);
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
  if (found.length === 0) throw new Error(`there is no ${pattern} in ${folder}: see --help for what it must have`);
  return found;
}

function report(results: Result[], args: string[], { write }: { write?: true | undefined }): void {
  for (const result of results) {
    print(result);
    if (write) record(result, ['npm run bench', ...(args.length > 0 ? ['--', ...args] : [])].join(' '));
  }
}

function complain(sentence: string): void {
  process.stderr.write(`bench: ${sentence}\n`);
  process.exitCode = 1;
}
