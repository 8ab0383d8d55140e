import { appendFileSync, existsSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import Table from 'cli-table3';
import { Argument, Command, InvalidArgumentError } from 'commander';
import { type Bare, compare, type Comparison, type Generator, limitOf, rate, type Side } from './compare.js';
import { Helper, startServer } from './processes.js';
import { type Trial, trials } from './trials.js';

/** Requests a second of each kind, as a share of what a bare uWebSockets.js handler does with the same bytes. */

interface Options {
  seconds: number;
  connections: number;
  cpuProf?: string;
  write?: true;
}

const head = [
  'trial',
  'req/s',
  'bare req/s',
  'ratio',
  'rounds',
  'p50 ms',
  'p99 ms',
  'CPU s',
  'bare CPU s',
  'CPU ratio',
  'limit',
  'bare limit',
  'failures',
];
const legend =
  'ratio: of the median of three rounds. CPU s: server (all threads) + generator. CPU ratio: server CPU a request, ' +
  'bare over ours: what the ratio would be if no generator were the limit. limit: the ' +
  'main thread that had the most to do: how much of the time it ran / would have run with a core to itself; ' +
  'waiting: for the disk or for other threads.';

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

const names = Object.keys(trials);
const helpOfTrials = Object.entries(trials).map(([name, { about }]) => `  ${name.padEnd(11)}${about}`);
const program = new Command('npm run bench --')
  .description('Load each kind of request, and a bare uWebSockets.js handler with the same bytes, and compare.')
  .addArgument(new Argument('[trials...]', 'trials to run alone').choices(names))
  .option('--seconds <number>', 'load on each of the two in a trial, in three rounds', positive, 8)
  .option('--connections <number>', 'open connections, each with one request at a time', whole, 64)
  .option('--cpu-prof <folder>', 'write CPU profiles of the server there, for the DevTools or speedscope')
  .option('--write', 'add the results to bench/RESULTS.md')
  .addHelpText('after', `\nTrials:\n${helpOfTrials.join('\n')}`)
  .showHelpAfterError('(add --help for the usage)')
  .action(async (chosen: string[], options: Options) => {
    const bare: Bare = new Helper('bare.js');
    const generator: Generator = new Helper('generator.js');
    const rows: string[][] = [];
    try {
      for (const [name, trial] of Object.entries(trials)) {
        if (chosen.length > 0 && !chosen.includes(name)) continue;
        process.stderr.write(`${name}: ${trial.about}\n`);
        rows.push(toRow(name, await onFreshServer(trial, options, bare, generator)));
      }
    } finally {
      await Promise.all([bare.stop(), generator.stop()]);
    }
    const colAligns = head.map((_, i) => (i ? ('right' as const) : ('left' as const)));
    const table = new Table({ head, colAligns, style: { head: [], border: [] } });
    table.push(...rows);
    process.stdout.write(`${table.toString()}\n${legend}\n`);
    if (rows.some(row => row.at(-1) !== '0')) throw new Error('requests failed: these figures count for nothing');
    if (options.write) append(rows, chosen, options);
  });

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`bench: ${(error as Error).message}\n`);
  process.exitCode = 1;
}

async function onFreshServer(trial: Trial, options: Options, bare: Bare, generator: Generator): Promise<Comparison> {
  const profile = options.cpuProf ? ['--cpu-prof', `--cpu-prof-dir=${options.cpuProf}`] : [];
  const server = await startServer(profile);
  try {
    return await compare(trial, options, { server, bare, generator });
  } finally {
    await server.stop();
  }
}

function toRow(name: string, { ours, bare, ratio, ratios }: Comparison): string[] {
  const cpu = ({ server, generator }: Side) => `${server.all.toFixed(1)} + ${generator.all.toFixed(1)}`;
  const each = ({ server, answers }: Side) => server.all / answers;
  return [
    name,
    rate(ours).toFixed(0),
    rate(bare).toFixed(0),
    ratio.toFixed(2),
    ratios.map(value => value.toFixed(2)).join(' - '),
    ours.p50Milliseconds.toFixed(2),
    ours.p99Milliseconds.toFixed(2),
    cpu(ours),
    cpu(bare),
    (each(bare) / each(ours)).toFixed(2),
    limitOf(ours),
    limitOf(bare),
    String(ours.failures + bare.failures),
  ];
}

function append(rows: string[][], chosen: string[], { seconds, connections }: Options): void {
  const file = fileURLToPath(new URL('../../bench/RESULTS.md', import.meta.url));
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  const command = ['npm run bench --', ...chosen, `--seconds ${seconds} --connections ${connections}`].join(' ');
  const section = [
    `\n## Requests, ${new Date().toISOString().slice(0, 10)}\n`,
    `${cpus()[0]?.model}, ${availableParallelism()} cores, Node ${process.version}, \`${command}\`\n`,
    line(head),
    line(head.map((_, i) => (i ? '--:' : '---'))),
    ...rows.map(line),
    `\n${legend}\n`,
  ];
  appendFileSync(file, `${existsSync(file) ? '' : '# Results\n'}${section.join('\n')}`);
}
