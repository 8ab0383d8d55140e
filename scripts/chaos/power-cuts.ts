import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { exitOnSignals, removeFolder, temporaryFolder } from '../../test/testbed/cleanup.js';
import { requestJson } from '../../test/testbed/client.js';
import { inParallel } from '../../test/testbed/in-parallel.js';
import { numberParser, positiveInteger } from '../../test/testbed/option-parsers.js';
import { showStatus } from '../../test/testbed/progress.js';
import { seededRandom } from '../../test/testbed/random.js';
import { startServer } from '../../test/testbed/server.js';
import { Worker } from '../../test/testbed/worker.js';
import { expectComplete, play } from './builds.js';
import { invariant, reportViolations, Violation } from './invariants.js';
import { Disk, losses } from './power-cuts/disk.js';
import { type Recording, recordBuilds, TRACED_FILES } from './power-cuts/recording.js';
import { readTrace, reasonNotTraceable } from './power-cuts/trace.js';
import { expectSound } from './store-check.js';

/**
 * Traces what a server writes while builds run, computes disk images that a power cut may leave, and checks the invariants of a server
 * on each image: the store is sound, acknowledged data is there, and all builds continue and succeed. The seed determines when power is
 * cut, what is lost and what the nodes do, but not the order of their requests.
 */

interface Options {
  images: number;
  seed: number;
  seconds: number;
}

const BUILDS_AT_ONCE = 16;
/** Probability that a node repeats a request that was answered before the power cut. */
const REPEATED = 0.2;

type CheckWorker = Worker<{ dataDir: string }, string[]>;

/** Draws the numbers of the trace events after which power is cut, in ascending order. */
async function drawCuts({ trace, log }: Recording, images: number, random: () => number): Promise<number[]> {
  let [number, from, until] = [0, 0, 0];
  for await (const { time } of readTrace(trace)) {
    number += 1;
    if (time < log.from) from = number;
    if (time < log.until) until = number;
  }
  return Array.from({ length: images }, () => from + Math.floor(random() * (until - from))).sort((a, b) => a - b);
}

/** Checks the invariants of a server on the image of a power cut at that time. Returns the number of requests that it answered. */
async function resume(
  dataDir: string,
  { builds, log }: Recording,
  at: number,
  checkWorker: CheckWorker,
  random: () => number,
): Promise<number> {
  expectSound(await checkWorker.ask({ dataDir }));
  const server = await startServer({ dataDir });
  let answers = 0;
  const send = async (path: string, body?: object, attempt?: number): Promise<unknown> => {
    answers += 1;
    return requestJson(server.url, path, body, attempt);
  };
  const post = log.resume(at, send, () => random() < REPEATED);
  await inParallel(
    BUILDS_AT_ONCE,
    builds.filter(build => log.hasBegun(build, at)),
    async build => {
      await play(post, build);
      await expectComplete(send, build);
    },
  );
  await server.stop();
  expectSound(await checkWorker.ask({ dataDir }));
  return answers;
}

async function powerCuts({ images, seed, seconds }: Options): Promise<void> {
  const reason = reasonNotTraceable();
  if (reason !== null) throw new Violation(reason);
  const random = seededRandom(seed);
  const recording = await recordBuilds(seconds * 1000, random);
  const cuts = await drawCuts(recording, images, random);
  const lossKinds = Object.entries(losses);
  const checkWorker: CheckWorker = new Worker('scripts/chaos/power-cuts/check-worker.js');
  const disk = new Disk(temporaryFolder());
  let [events, image, answers] = [0, 0, 0];
  for await (const event of readTrace(recording.trace)) {
    disk.apply(event);
    for (; cuts[image] === events; image++) {
      const [lost, kept] = lossKinds[image % lossKinds.length]!;
      const dataDir = temporaryFolder();
      disk.writeImages(dataDir, (page, writes) => kept(page, writes, random), random);
      answers += await resume(dataDir, recording, event.time, checkWorker, random).catch((error: unknown) => {
        const when = `power cut ${image + 1}, ${Math.round(event.time - recording.log.from)} ms after the first request, lost: ${lost}`;
        throw new Violation(`${when}: ${(error as Error).message}`, { cause: error });
      });
      removeFolder(dataDir);
      showStatus(`${image + 1} of ${images} power cuts, ${answers} answers`);
    }
    events += 1;
  }
  expectCompleteTrace(disk, recording);
  disk.close();
  await checkWorker.stop();
  showStatus('');
  process.stdout.write(
    `${images} power cuts (seed ${seed}) during ${recording.builds.length} builds, ${answers} answers: ` +
      'store sound after each, no acknowledged data lost, every build succeeded\n',
  );
}

/** Checks that all traced writes together give the files of the store. */
function expectCompleteTrace(disk: Disk, { dataDir }: Recording): void {
  const images = temporaryFolder();
  const nothingTorn = () => 1;
  disk.writeImages(images, (_, writes) => writes, nothingTorn);
  for (const name of TRACED_FILES) {
    const isSame = readFileSync(join(images, name)).equals(readFileSync(join(dataDir, name)));
    invariant(isSame, `the trace is incomplete: replaying it does not give the file ${name}`);
  }
}

exitOnSignals();
const positive = numberParser(value => value > 0 && value <= 86_400, 'It must be more than 0 and at most 86400.');
const program = new Command('npm run power-cuts --')
  .description('Simulate power cuts of a server while CI nodes use it, and check that nothing is lost. Requires strace (Linux).')
  .option('--images <number>', 'number of disk images to check', positiveInteger, 200)
  .option('--seed <number>', 'seed of the times of the cuts, of what is lost, and of what the nodes do', positiveInteger, 1)
  .option('--seconds <number>', 'duration of the builds', positive, 4)
  .action(reportViolations('power-cuts', powerCuts));
await program.parseAsync();
