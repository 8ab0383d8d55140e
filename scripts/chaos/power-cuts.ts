import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { whole } from '../../bench/flags.js';
import { exitOnSignals, removeFolder, temporaryFolder } from '../../bench/load/cleanup.js';
import { inParallel } from '../../bench/load/in-parallel.js';
import { startServer } from '../../bench/load/server.js';
import { Worker } from '../../bench/load/worker.js';
import { randomOf } from '../../bench/random.js';
import { STORE_FILE } from '../../src/store/open.js';
import { expectComplete, play } from './builds.js';
import { invariant, reportViolations, Violation } from './invariants.js';
import { Disk, losses } from './power-cuts/disk.js';
import { record, type Recording } from './power-cuts/recording.js';
import { momentsOf, whyNotTraced } from './power-cuts/trace.js';
import { requestJson } from './request.js';
import { expectSound } from './store-check.js';

/**
 * Traces what a server writes while builds run, makes of it what a disk may hold after power cuts at any moment, and holds the server
 * to its promises on each: the store is sound, what was acknowledged is there, and all builds go on where they were and end well. The
 * seed decides when power is cut, what is lost and what the nodes do, not who comes first.
 */

interface Options {
  images: number;
  seed: number;
  seconds: number;
}

const BUILDS_AT_ONCE = 16;
const ASKED_AGAIN = 0.2;

type CheckWorker = Worker<{ dataDir: string }, string[]>;

/** Which moments of the trace power is cut after, in their order. */
async function drawCuts({ trace, log }: Recording, images: number, random: () => number): Promise<number[]> {
  let [number, from, until] = [0, 0, 0];
  for await (const { time } of momentsOf(trace)) {
    number += 1;
    if (time < log.from) from = number;
    if (time < log.until) until = number;
  }
  return Array.from({ length: images }, () => from + Math.floor(random() * (until - from))).sort((a, b) => a - b);
}

/** Holds a server to its promises on what is left after a power cut at that time. Returns how many requests it answered. */
async function goOn(dataDir: string, { builds, log }: Recording, at: number, checkWorker: CheckWorker, random: () => number): Promise<number> {
  expectSound(await checkWorker.ask({ dataDir }));
  const server = await startServer({ dataDir });
  let answers = 0;
  const send = async (path: string, body?: object, attempt?: number): Promise<unknown> => {
    answers += 1;
    return requestJson(server.url, path, body, attempt);
  };
  const post = log.goingOn(at, send, () => random() < ASKED_AGAIN);
  await inParallel(BUILDS_AT_ONCE, builds.filter(build => log.hadBegun(build, at)), async build => {
    await play(post, build);
    await expectComplete(send, build);
  });
  await server.stop();
  expectSound(await checkWorker.ask({ dataDir }));
  return answers;
}

async function powerCuts({ images, seed, seconds }: Options): Promise<void> {
  const why = whyNotTraced();
  if (why !== null) throw new Violation(why);
  const random = randomOf(seed);
  const recording = await record(seconds * 1000, random);
  const cuts = await drawCuts(recording, images, random);
  const kinds = Object.entries(losses);
  const checkWorker: CheckWorker = new Worker('scripts/chaos/power-cuts/check-worker.js');
  const disk = new Disk(join(temporaryFolder(), 'safe'));
  let [moments, image, answers] = [0, 0, 0];
  for await (const moment of momentsOf(recording.trace)) {
    disk.pass(moment);
    for (; cuts[image] === moments; image++) {
      const [lost, kept] = kinds[image % kinds.length]!;
      const dataDir = temporaryFolder();
      disk.cut(join(dataDir, STORE_FILE), (page, writes) => kept(page, writes, random));
      try {
        answers += await goOn(dataDir, recording, moment.time, checkWorker, random);
      } catch (error) {
        const when = `power cut ${image + 1}, ${Math.round(moment.time - recording.log.from)} ms after the first request, with ${lost} lost`;
        throw new Violation(`${when}: ${(error as Error).message}`, { cause: error });
      }
      removeFolder(dataDir);
      if (process.stderr.isTTY) process.stderr.write(`\r${image + 1} of ${images} power cuts, ${answers} answers`);
    }
    moments += 1;
  }
  const end = join(temporaryFolder(), STORE_FILE);
  disk.cut(end, (_, writes) => writes);
  invariant(readFileSync(end).equals(readFileSync(recording.file)), 'the trace does not have all that was written');
  disk.close();
  await checkWorker.stop();
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  process.stdout.write(
    `${images} power cuts (seed ${seed}) within ${recording.builds.length} builds, ${answers} answers: ` +
      'the store sound after each, nothing lost of what was acknowledged, every build whole\n',
  );
}

exitOnSignals();
const program = new Command('npm run power-cuts --')
  .description('Cut the power of a server, as it were, while nodes work with it, and see whether anything is lost. Needs strace.')
  .option('--images <number>', 'how many states of the disk to go on from', whole, 200)
  .option('--seed <number>', 'of when, of what is lost, and of what the nodes do', whole, 1)
  .option('--seconds <number>', 'how long the builds run', whole, 4)
  .action(reportViolations('power-cuts', powerCuts));
await program.parseAsync();
