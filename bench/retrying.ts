import type { Batch, Pull } from '../src/server/engine/queue/batch.js';
import { Queue } from '../src/server/engine/queue/queue.js';
import { toWeight } from '../src/server/planning/weight.js';
import { type Build, drawNodes } from '../test/testbed/queue-simulation.js';
import { seededRandom } from '../test/testbed/random.js';
import type { Suite } from '../test/testbed/suites.js';
import { buildsOf, CONFIGURED_PULL_COST } from './planning.js';
import type { Result } from './results.js';

const NODES = 8;
/** Builds of each suite in which one file fails. */
const BUILDS = 20;
/** The server tells a node that waits to pull again after this time. */
const AGAIN_SECONDS = 1;

/** How much later a build ends in which one file fails, and passes in its retry. */
export function retrying(suites: readonly Suite[]): Result {
  const longer = suites.flatMap(suite =>
    buildsOf([suite], 2.2, [NODES]).flatMap(build => {
      const random = seededRandom(build.seed);
      const whole = wallOf(build, null);
      return Array.from({ length: BUILDS }, () => wallOf(build, Math.floor(random() * build.files.length)) / whole);
    }),
  );
  longer.sort((a, b) => a - b);
  const percent = (part: number) => `${(100 * (longer[Math.floor(part * (longer.length - 1))]! - 1)).toFixed(1)} %`;
  return {
    title: 'Queues: the retry of a file that failed',
    head: ['builds', 'median', 'nine of ten', 'worst'],
    rows: [[String(longer.length), percent(0.5), percent(0.9), percent(1)]],
    legend:
      `By how much later a build ends in which one file fails and is retried, than without the failure. The file is drawn evenly. ${NODES} nodes and 2.2 s per ` +
      'pull, which is what the retry costs besides the file; suites as above.',
  };
}

/** Plays a build in which a file fails the first time. Returns its wall time in seconds, until the last node knows how its files ended. */
function wallOf({ files, pullCost, ...build }: Build, failing: number | null): number {
  const nodes = drawNodes(build);
  let now = 0;
  const policy = { silenceMilliseconds: 90_000, factor: 0, graceMilliseconds: 0, uptime: () => now, uptimeAt: () => now };
  const weights = Float64Array.from(files, ({ predicted }) => toWeight(predicted));
  const parameters = { nodeTotal: build.nodes, pullCost: toWeight(CONFIGURED_PULL_COST), isGuessed: false };
  const queue = new Queue(weights, parameters, [], policy);
  const working = new Map(nodes.map((node, index) => [index, { ...node, batch: null as Batch | null }]));
  let [pulls, end] = [0, 0];
  while (working.size > 0) {
    const [index, node] = [...working].reduce((first, other) => (other[1].time < first[1].time ? other : first));
    now = 1000 * node.time;
    pulls += 1;
    const request: Pull = {
      ...{ node_index: index, run: String(index), batch_uuid: String(pulls), isFirstRequest: node.pulls === 0, isRetry: false },
      ...{ wantsLastSplit: false, recordedRunId: null, hasLeft: () => false },
      ...{ acknowledges: true, heartbeats: true, retriesFailed: true },
    };
    node.pulls += 1;
    if (node.batch) {
      const failed = node.batch.retry ? [] : node.batch.files.filter(file => file === failing);
      const seconds = node.batch.files.map(file => files[file]!.actual);
      queue.acknowledge(request, node.batch.seq, { failed }, seconds);
    }
    node.batch = queue.pull(request, now)?.batch ?? null;
    end = Math.max(end, node.time);
    if (node.batch) {
      queue.delivered(node.batch.seq);
      node.time += pullCost + node.batch.files.reduce((sum, file) => sum + files[file]!.actual, 0) / node.speed;
    } else if (queue.standsBy(index)) node.time += AGAIN_SECONDS;
    else working.delete(index);
  }
  return end;
}
