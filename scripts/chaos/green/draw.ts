import { pick, type Random, randomOf, wholeUpTo } from '../../../bench/random.js';
import { fileNames } from './file-names.js';
import { drawnByName, type Hostility, hostilities } from './hostilities.js';
import type { Job, Mode, Scenario } from './scenario.js';

/** Probabilities of no, a second and a third hostility in a scenario. */
const PEACEFUL = 0.08;
const SECOND = 0.35;
const THIRD = 0.1;

const OWN_CLIENT = 0.75;
const OWN_MODES: readonly Mode[] = ['queue', 'split'];
const COMMERCIAL_MODES: readonly Mode[] = ['v1 queue', 'v1 queue without uuids', 'v1 split', 'v2 queue'];
const MOST_NODES = 5;
const MOST_FILES = 40;

/** Draws a scenario: the same one for the same seed and number. `only` names its only hostility. */
export function drawScenario(seed: number, number: number, only: string | null): Scenario {
  const random = randomOf(seed * 1_000_003 + number);
  const names = only === null ? drawNames(random) : [only];
  const scenario = peaceful(number, random);
  // In the order of the table: some hostilities depend on earlier ones.
  for (const [name, change] of Object.entries(hostilities)) if (names.includes(name)) change(scenario, random);
  // A lease may hand out a file twice.
  if (names.length === 0) scenario.leases = false;
  return { ...scenario, hostilities: names };
}

function drawNames(random: Random): string[] {
  if (random() < PEACEFUL) return [];
  const names = (Object.keys(hostilities) as Hostility[]).filter(name => !drawnByName.has(name));
  const drawn = new Set([pick(random, names)]);
  if (random() < SECOND) drawn.add(pick(random, names));
  if (random() < THIRD) drawn.add(pick(random, names));
  return [...drawn];
}

/** A CI run in which nothing goes wrong. */
function peaceful(number: number, random: Random): Scenario {
  // More nodes take more time and rarely find more errors.
  const nodeTotal = random() < 0.1 ? 1 : 1 + Math.min(wholeUpTo(random, MOST_NODES - 1), wholeUpTo(random, MOST_NODES - 1));
  const mode = pick(random, random() < OWN_CLIENT ? OWN_MODES : COMMERCIAL_MODES);
  const files = fileNames('a', wholeUpTo(random, MOST_FILES), random);
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
      never: false,
      runner: { hasReport, losesExitCode: false, crashes: false },
      kill: null,
      trouble: null,
    }),
  );
  return {
    number,
    hostilities: [],
    hasTimes: random() < 0.7,
    identity: random() < 0.5 ? 'own variables' : 'CI variables',
    keepsFolders: false,
    leases: random() < 0.15,
    clockHours: 0,
    overlaps: false,
    ciRuns: [
      {
        buildId: '1',
        nodeTotal,
        isDynamic: random() < 0.2,
        heedsRecord: random() < 0.5,
        jobs,
        inTurn: random() < 0.2,
        runsFailedAgain: random() < 0.4,
        calmsDown: random() < 0.6,
        events: [],
        verifyTrouble: null,
      },
    ],
  };
}
