import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { exitOnSignals, removeFolder, temporaryFolder } from '../../bench/load/cleanup.js';
import { whole } from '../../bench/flags.js';
import { inParallel } from '../../bench/load/in-parallel.js';
import { Helper, startServer } from '../../bench/load/processes.js';
import { randomOf } from '../../bench/suites/suites.js';
import { STORE_FILE } from '../../src/store/open.js';
import { answerOf } from './answer.js';
import { expectComplete, play } from './builds.js';
import { Disk, losses } from './power-cuts/disk.js';
import { record, type Recording } from './power-cuts/recording.js';
import { momentsOf, whyNotTraced } from './power-cuts/trace.js';
import { mustBeNone } from './problems.js';
import { Broken, holding, must } from './promises.js';

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

type Looker = Helper<{ dataDir: string }, string[]>;

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
async function goOn(dataDir: string, { builds, log }: Recording, at: number, looker: Looker, random: () => number): Promise<number> {
  mustBeNone(await looker.ask({ dataDir }));
  const server = await startServer({ dataDir });
  let answers = 0;
  const send = async (path: string, body?: object, attempt?: number): Promise<unknown> => {
    answers += 1;
    return answerOf(server.url, path, body, attempt);
  };
  const post = log.goingOn(at, send, () => random() < ASKED_AGAIN);
  await inParallel(BUILDS_AT_ONCE, builds.filter(build => log.hadBegun(build, at)), async build => {
    await play(post, build);
    await expectComplete(send, build);
  });
  await server.stop();
  mustBeNone(await looker.ask({ dataDir }));
  return answers;
}

async function powerCuts({ images, seed, seconds }: Options): Promise<void> {
  const why = whyNotTraced();
  if (why !== null) throw new Broken(why);
  const random = randomOf(seed);
  const recording = await record(seconds * 1000, random);
  const cuts = await drawCuts(recording, images, random);
  const kinds = Object.entries(losses);
  const looker: Looker = new Helper('scripts/chaos/power-cuts/look.js');
  const disk = new Disk(join(temporaryFolder(), 'safe'));
  let [moments, image, answers] = [0, 0, 0];
  for await (const moment of momentsOf(recording.trace)) {
    disk.pass(moment);
    for (; cuts[image] === moments; image++) {
      const [lost, kept] = kinds[image % kinds.length]!;
      const dataDir = temporaryFolder();
      disk.cut(join(dataDir, STORE_FILE), (page, writes) => kept(page, writes, random));
      try {
        answers += await goOn(dataDir, recording, moment.time, looker, random);
      } catch (error) {
        const when = `power cut ${image + 1}, ${Math.round(moment.time - recording.log.from)} ms after the first request, with ${lost} lost`;
        throw new Broken(`${when}: ${(error as Error).message}`, { cause: error });
      }
      removeFolder(dataDir);
      if (process.stderr.isTTY) process.stderr.write(`\r${image + 1} of ${images} power cuts, ${answers} answers`);
    }
    moments += 1;
  }
  const end = join(temporaryFolder(), STORE_FILE);
  disk.cut(end, (_, writes) => writes);
  must(readFileSync(end).equals(readFileSync(recording.file)), 'the trace does not have all that was written');
  disk.close();
  await looker.stop();
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
  .action(holding('power-cuts', powerCuts));
await program.parseAsync();
