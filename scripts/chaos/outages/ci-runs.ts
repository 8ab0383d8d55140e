import { seededRandom } from '../../../test/testbed/random.js';
import { playCiRun } from '../green/play.js';
import type { Servers } from '../green/proxy.js';
import { drawFiles, type Job, type Scenario } from '../green/scenario.js';
import { faultlessViolationsOf, violationsOf } from '../green/violations.js';
import { invariant } from '../invariants.js';

const NODES = 3;
const FILES = 40;
/** The default of the client. */
const RETRIES = 3;

/**
 * Plays a CI run with Ballast's own client in processes of its own. It has to be green, without a node that fell back, and with each file run
 * once.
 */
export async function playOwnClient(servers: Servers, number: number, seed: number, folder: string): Promise<void> {
  const random = seededRandom(seed + number);
  const files = drawFiles('a', FILES, random);
  const mode = number % 3 === 0 ? 'split' : 'queue';
  const jobs = Array.from(
    { length: NODES },
    (_, node): Job => ({
      suite: 'a',
      node,
      mode,
      files,
      retries: RETRIES,
      fallback: false,
      pieces: false,
      hasOtherTree: false,
      timeLimitSeconds: null,
      flags: '',
      delaySeconds: 0,
      neverStarts: false,
      runner: { hasReport: true, losesExitCode: false, crashes: false, pause: null, pieceFault: null },
      kill: null,
      requestFaults: null,
    }),
  );
  const ciRun = {
    buildId: String(number),
    nodeTotal: NODES,
    isDynamic: true,
    leavesOutProved: false,
    retriesFiles: false,
    checksRecordExitCode: true,
    jobs,
    cases: {},
    isSequential: false,
    retriesFailedJobs: false,
    retriesWithoutFaults: false,
    operations: [],
    verifyFaults: null,
  };
  const scenario: Scenario = {
    number,
    faults: [],
    hasTimes: false,
    identity: 'own variables',
    keepsFolders: false,
    leases: false,
    speed: 1,
    clockHours: 0,
    overlaps: false,
    pieces: null,
    asksForProofs: false,
    ciRuns: [ciRun],
  };
  const played = await playCiRun(scenario, seed, ciRun, servers, folder);
  const violations = [...violationsOf(played), ...faultlessViolationsOf(played)];
  const output = [...played.starts, played.verified].map(({ output, requests }) => `${output}${requests.join('\n')}`).join('\n');
  invariant(violations.length === 0, `CI run ${number} (${mode}): ${violations.join('; ')}\n${output}`);
}
