import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { END_SIGNALS } from '../src/base/signals.js';
import { numberParser, positiveInteger } from '../test/testbed/option-parsers.js';
import { showStatus } from '../test/testbed/progress.js';
import { openDemo } from './demo/open-demo.js';

/** Serves a temporary folder with invented builds of three projects, and plays more of them while it runs. */

interface Options {
  port?: number;
  seed: number;
  days: number;
  keep?: true;
}

const USUAL_PORT = 8080;
const port = numberParser(value => Number.isInteger(value) && value >= 0 && value <= 65_535, 'It must be a whole number from 0 to 65535.');
const days = numberParser(value => Number.isInteger(value) && value >= 1 && value <= 89, 'It must be a whole number from 1 to 89.');

const program = new Command('npm run demo --')
  .description(
    'Serve two months of invented builds of three projects from a temporary folder, with a build a minute while it runs. Ctrl-C ends it and deletes the folder.',
  )
  .option('--port <number>', `port to listen on; 0 picks a free one (default: ${USUAL_PORT} if it is free)`, port)
  .option('--seed <number>', 'seed of the builds', positiveInteger, 1)
  .option('--days <number>', 'days of builds before now', days, 62)
  .option('--keep', 'keep the folder')
  .showHelpAfterError('(add --help for the usage)')
  .action(demo);

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`demo: ${(error as Error).message}\n`);
  process.exitCode = 1;
}

async function demo({ port: wanted, seed, days, keep = false as true }: Options): Promise<void> {
  // Before the builds are made, which takes a minute.
  const port = await portToUse(wanted);
  const dataDir = mkdtempSync(join(tmpdir(), 'ballast-demo-'));
  const remove = () => {
    if (!keep) rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
  };
  const stopping = new AbortController();
  // npm passes a signal on that the terminal has sent, too.
  for (const signal of END_SIGNALS) process.on(signal, () => stopping.abort());
  try {
    process.stderr.write(`demo: making the builds of ${days} days ...\n`);
    const begun = performance.now();
    let shown = 0;
    const progressed = (part: number) => {
      stopping.signal.throwIfAborted();
      if (100 * part < shown) return;
      showStatus(`demo: ${shown} %`);
      shown += 1;
    };
    const running = await openDemo({ dataDir, port, seed, days, now: Date.now(), progressed }).finally(() => showStatus(''));
    const took = ((performance.now() - begun) / 1000).toFixed(1);
    process.stderr.write(`demo: made ${running.ciRuns} CI runs in ${took} s\n`);
    for (const { name, token } of running.projects) process.stdout.write(`Token of ${name}: ${token}\n`);
    process.stdout.write('Sign in to the dashboard with this link, once and within 10 minutes:\n');
    process.stdout.write(`${running.link}\n`);
    process.stdout.write(`"npm run -s ballast -- dashboard link --data-dir ${dataDir}" makes another. Ctrl-C ends the demo.\n`);
    try {
      await running.play(stopping.signal, ({ message }) => process.stderr.write(`demo: ${message}\n`));
    } finally {
      await running.close();
    }
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
  } finally {
    remove();
  }
  if (keep) process.stdout.write(`The data is in ${dataDir}\n`);
}

/** The port that was asked for, else the usual one, else a free one. Throws when the one that was asked for is in use. */
async function portToUse(wanted: number | undefined): Promise<number> {
  const port = wanted ?? USUAL_PORT;
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    server.close();
    return port;
  } catch (error) {
    const reason = `port ${port} cannot be used (${(error as Error).message})`;
    if (wanted !== undefined) throw new Error(`${reason}: give another --port, or 0 for a free one`);
    process.stderr.write(`demo: ${reason}, so the demo takes a free one\n`);
    return 0;
  }
}
