import { pick, type Random, randomInteger, seededRandom } from '../../../test/testbed/random.js';
import { addPieces, drawPieceFaults, pieceFaults } from './draw-pieces.js';
import { type FaultName, faults, onlyOnRequest } from './faults.js';
import { addMutes, FAILURES_ARE_MUTED } from './mutes.js';
import { addProofs } from './proofs.js';
import { addRetries } from './retries.js';
import { drawFiles, type Job, type Mode, type Scenario } from './scenario.js';

/** Probabilities that a scenario has no fault, a second one and a third one. */
const NO_FAULT = 0.08;
const SECOND_FAULT = 0.35;
const THIRD_FAULT = 0.1;

const OWN_CLIENT = 0.75;
const OWN_MODES: readonly Mode[] = ['queue', 'split'];
const COMMERCIAL_MODES: readonly Mode[] = ['v1 queue', 'v1 queue without uuids', 'v1 split', 'v2 queue'];
const MAX_NODES = 5;
const MAX_FILES = 40;

/** The part of scenarios whose repositories mute failures. */
const MUTES = 0.25;

/** The part of scenarios that ask for proofs. */
const PROOFS = 0.4;

/** The part of scenarios that retry failed files, of those that can. */
const RETRIES = 0.6;

/** A node is dead after 6 s of silence then, and sends a heartbeat each second. */
const SPEED = 15;

/** The part of scenarios in which nodes run long files in pieces. */
const PIECES = 0.25;

/** Draws a scenario: the same one for the same seed and number. `only` names its only fault. */
export function drawScenario(seed: number, number: number, only: string | null, alwaysPieces = false): Scenario {
  const random = seededRandom(seed * 1_000_003 + number);
  // A generator of its own: what else is drawn does not depend on pieces.
  const piecesRandom = seededRandom(seed * 1_000_033 + number);
  const hasPieces = piecesRandom() < PIECES || alwaysPieces || (only !== null && only in pieceFaults);
  const drawn = only === null ? drawNames(random) : [only];
  const names = only === null && hasPieces ? drawPieceFaults(drawn, piecesRandom) : drawn;
  const scenario = faultlessScenario(number, random);
  if (hasPieces) addPieces(scenario, piecesRandom);
  // In the order of the tables, because some faults depend on earlier ones.
  for (const [name, change] of Object.entries({ ...faults, ...pieceFaults })) if (names.includes(name)) change(scenario, random);
  scenario.faults = names;
  const mutesRandom = seededRandom(seed * 1_000_039 + number);
  if (only === null && mutesRandom() < MUTES) scenario.faults = [...names, ...addMutes(scenario, mutesRandom)];
  const proofsRandom = seededRandom(seed * 1_000_037 + number);
  if (!scenario.overlaps && proofsRandom() < PROOFS) scenario.faults = [...scenario.faults, ...addProofs(scenario, proofsRandom)];
  const retriesRandom = seededRandom(seed * 1_000_081 + number);
  // Where all failures are muted, each node is green.
  if (retriesRandom() < RETRIES && !scenario.faults.includes(FAILURES_ARE_MUTED)) addRetries(scenario, retriesRandom);
  // A lease may hand out a file twice.
  if (names.length === 0) scenario.leases = false;
  // Any fault may end a node with a batch, and others then wait for its files.
  return { ...scenario, speed: names.length === 0 ? 1 : SPEED };
}

function drawNames(random: Random): string[] {
  if (random() < NO_FAULT) return [];
  const names = (Object.keys(faults) as FaultName[]).filter(name => !onlyOnRequest.has(name));
  const drawn = new Set([pick(random, names)]);
  if (random() < SECOND_FAULT) drawn.add(pick(random, names));
  if (random() < THIRD_FAULT) drawn.add(pick(random, names));
  return [...drawn];
}

/** A CI run in which nothing goes wrong. */
function faultlessScenario(number: number, random: Random): Scenario {
  // More nodes take more time and rarely find more errors.
  const nodeTotal = random() < 0.1 ? 1 : 1 + Math.min(randomInteger(random, MAX_NODES - 1), randomInteger(random, MAX_NODES - 1));
  const mode = pick(random, random() < OWN_CLIENT ? OWN_MODES : COMMERCIAL_MODES);
  const files = drawFiles('a', randomInteger(random, MAX_FILES), random);
  const hasReport = mode === 'split' || random() < 0.7;
  const fallback = random() < 0.5;
  const retries = random() < 0.9 ? 0 : 1;
  const jobs = Array.from(
    { length: nodeTotal },
    (_, node): Job => ({
      suite: 'a',
      node,
      mode,
      files,
      retries,
      fallback,
      pieces: false,
      hasOtherTree: false,
      timeLimitSeconds: null,
      flags: '',
      delaySeconds: 0,
      neverStarts: false,
      runner: { hasReport, losesExitCode: false, crashes: false, pause: null, pieceFault: null },
      kill: null,
      requestFaults: null,
    }),
  );
  return {
    number,
    faults: [],
    hasTimes: random() < 0.7,
    identity: random() < 0.5 ? 'own variables' : 'CI variables',
    keepsFolders: false,
    leases: random() < 0.15,
    speed: 1,
    clockHours: 0,
    overlaps: false,
    pieces: null,
    asksForProofs: false,
    ciRuns: [
      {
        buildId: '1',
        nodeTotal,
        isDynamic: random() < 0.2,
        leavesOutProved: false,
        retriesFiles: false,
        checksRecordExitCode: random() < 0.5,
        jobs,
        cases: {},
        isSequential: random() < 0.2,
        retriesFailedJobs: random() < 0.4,
        retriesWithoutFaults: random() < 0.6,
        operations: [],
        verifyFaults: null,
      },
    ],
  };
}
