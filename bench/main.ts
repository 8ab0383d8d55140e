import { Command, InvalidArgumentError } from 'commander';
import { estimating } from './estimating.js';
import { packing } from './packing.js';
import { planning } from './planning.js';
import { print, record, type Result } from './results.js';
import { type Extent, requests } from './requests/run.js';
import { trials } from './requests/trials.js';
import { readHistories, readSuites } from './suites.js';

/** Every figure that the README gives, measured again. */

const positive = (text: string) => {
  const value = Number(text);
  if (text.trim() === '' || !(value > 0 && value <= 3600)) throw new InvalidArgumentError('It must be more than 0.');
  return value;
};
const whole = (text: string) => {
  const value = positive(text);
  if (!Number.isInteger(value)) throw new InvalidArgumentError('It must be a whole number.');
  return value;
};

const program = new Command('npm run bench --')
  .description('Measure how fast requests are answered, and how good splits, queues and estimates are.')
  .showHelpAfterError('(add --help for the usage)');

const helpOfTrials = Object.entries(trials).map(([name, { about }]) => `  ${name.padEnd(11)}${about}`);
trial('requests', 'requests a second of each kind, beside a bare uWebSockets.js handler with the same bytes')
  .argument('[trials...]', 'kinds of request to run alone')
  .option('--seconds <number>', 'load on each of the two in a trial, in three rounds', positive, 8)
  .option('--connections <number>', 'open connections, each with one request at a time', whole, 64)
  .option('--cpu-prof <folder>', 'write CPU profiles of the server there, for the DevTools or speedscope')
  .addHelpText('after', `\nTrials:\n${helpOfTrials.join('\n')}`)
  .action(async (chosen: string[], options: Extent & { write?: true }) => {
    const { seconds, connections } = options;
    const unknown = chosen.find(name => !(name in trials));
    if (unknown !== undefined) throw new Error(`there is no trial "${unknown}": see "requests --help"`);
    report(await requests(chosen, options), ['requests', ...chosen, `--seconds ${seconds} --connections ${connections}`], options);
  });

const FOLDER = 'recorded suites: FILE.json {"timings": {path: seconds}}, history/FILE.json {"versions": [{"date", "timings"}]}';
quality('packing', 'how even regular splits are, beside other algorithms', folder => packing(some(readSuites(folder), folder, 'FILE.json')));
quality('planning', 'how even queues end, in simulated builds, beside other batch sizes', folder =>
  planning(some(readSuites(folder), folder, 'FILE.json'), readHistories(folder)),
);
quality('estimating', 'how near estimates come to the next times, and what that does to builds', folder =>
  estimating(some(readHistories(folder), folder, 'history/FILE.json')),
);

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`bench: ${(error as Error).message}\n`);
  process.exitCode = 1;
}

function trial(name: string, about: string): Command {
  return program.command(name).description(about).option('--write', 'write the results into bench/RESULTS.md');
}

function quality(name: string, about: string, run: (folder: string) => Result[]): void {
  trial(name, about)
    .argument('<folder>', FOLDER)
    .action((folder: string, options: { write?: true }) => report(run(folder), [name, 'FOLDER'], options));
}

function some<T>(found: readonly T[], folder: string, pattern: string): readonly T[] {
  if (found.length === 0) throw new Error(`there is no ${pattern} in ${folder}: see --help for what it must have`);
  return found;
}

function report(results: Result[], args: string[], { write }: { write?: true }): void {
  for (const result of results) {
    print(result);
    if (write) record(result, `npm run bench -- ${args.join(' ')}`);
  }
}
