import { setTimeout as sleep } from 'node:timers/promises';
import { inParallel } from '../../test/testbed/in-parallel.js';
import { RECORDING } from '../../test/testbed/node-process.js';
import { answerMessages } from '../../test/testbed/worker-messages.js';
import { Connections, expectAnswer } from './connections.js';
import { largestRequests, templateOf } from './largest-requests.js';
import { FILES_IN_ANSWER, NODES } from './messages.js';
import { OpenQueue } from './open-queue.js';
import { initializeTemplate, type PlanKind, planPaths, recordAll, recordingTemplates } from './suite-bodies.js';
import { type LoadOutcome, Tally } from './tally.js';

/** A worker process that puts loads on a server. Messages prepare, begin and end the loads, which may begin again. */

export type LoadPlan = PullsPlan | SuitesPlan | LargestPlan;

export type LoadQuestion = { verb: 'prepare'; url: string; plans: LoadPlan[] } | { verb: 'begin' } | { verb: 'end' };

/** Pulls from many queues at a constant rate, even if the server does not keep up. A queue that ends is replaced by a new one. */
interface PullsPlan {
  kind: 'pulls';
  perSecond: number;
  connections: number;
  queues: number;
  files: number;
}

/** Requests with large suites, in sequence over one connection, each for a new build. */
interface SuitesPlan {
  kind: 'suites';
  what: PlanKind | 'recording';
  files: number;
  nodes: number;
  /** Between an answer and the next request. */
  pauseMilliseconds: number;
}

/** The largest requests of one kind, from another project, in several loops. */
interface LargestPlan {
  kind: 'largest';
  name: string;
  loops: number;
  token: string;
}

interface Load {
  prepare(): Promise<void>;
  /** Sends requests until the signal aborts. Resolves when none is in flight. */
  run(tally: Tally, signal: AbortSignal): Promise<void>;
}

/** Interval between checks whether pulls are due. */
const TICK_MILLISECONDS = 2;

function steadyPulls(url: string, plan: PullsPlan): Load {
  const connections = new Connections(url, plan.connections);
  const queues: OpenQueue[] = [];
  let [created, pulls] = [0, 0];

  const create = async () => {
    const queue = new OpenQueue(`pulls-${created++}`, connections);
    await queue.create(plan.files);
    return queue;
  };
  const pull = async (tally: Tally) => {
    const number = pulls++;
    const slot = number % queues.length;
    const queue = queues[slot]!;
    const { isEnd, milliseconds } = await queue.pull(Math.floor(number / queues.length) % NODES);
    // The answer at the end of a queue is cheaper, so it does not count.
    if (!isEnd) return tally.recordAnswer(milliseconds);
    const next = queues[slot] === queue ? await create() : null;
    if (next && queues[slot] === queue) queues[slot] = next;
  };
  return {
    prepare: () => inParallel(4, Array(plan.queues).keys(), async () => queues.push(await create())),
    async run(tally, signal) {
      const pending = new Set<Promise<void>>();
      const from = performance.now();
      for (let sent = 0; ; await sleep(TICK_MILLISECONDS)) {
        // A process that stood still sends what was due meanwhile.
        const isLast = signal.aborted;
        const due = ((performance.now() - from) / 1000) * plan.perSecond;
        for (; sent < due; sent++) {
          const answered = pull(tally)
            .catch((error: unknown) => tally.recordFailure(error))
            .finally(() => pending.delete(answered));
          pending.add(answered);
        }
        if (isLast) break;
      }
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}

/** Files of one recording. */
const RECORDED_EACH = 5000;

function suites(url: string, { what, files, nodes, pauseMilliseconds }: SuitesPlan): Load {
  const connections = new Connections(url, 1);
  const isRecording = what === 'recording';
  const templates = isRecording ? recordingTemplates(files, RECORDED_EACH) : [initializeTemplate(what, files, nodes, 'same')];
  let sent = 0;

  const send = async () => {
    // `prepare` used round 0.
    const round = 1 + Math.floor(sent / templates.length);
    const body = templates[sent++ % templates.length]!.body(round);
    const answer = await connections.post(isRecording ? RECORDING : planPaths[what], body);
    expectAnswer(answer, isRecording ? 201 : 200, isRecording ? '' : FILES_IN_ANSWER);
    return answer.milliseconds;
  };
  return {
    /** Records the files, so that initialisations find known times. */
    async prepare() {
      if (!isRecording) await recordAll(connections, files);
    },
    async run(tally, signal) {
      while (!signal.aborted) {
        try {
          tally.recordAnswer(await send());
        } catch (error) {
          tally.recordFailure(error);
          // The pause avoids a busy loop when the server is gone.
          await sleep(100);
        }
        await sleep(pauseMilliseconds, null, { signal }).catch(() => {});
      }
    },
  };
}

function largest(url: string, { name, loops, token }: LargestPlan): Load {
  const request = largestRequests[name]!;
  const connections = new Connections(url, loops, { 'KNAPSACK-PRO-TEST-SUITE-TOKEN': token, ...request.headers });
  const template = templateOf(request);
  let round = 0;
  return {
    prepare: async () => request.prepare?.(connections),
    async run(tally, signal) {
      const loop = async () => {
        while (!signal.aborted) {
          // The bytes of a round are valid until the next one.
          const answer = await connections
            .post(request.path, Buffer.from(template.body(++round)))
            .catch((error: unknown) => tally.recordFailure(error));
          if (!answer) return;
          if (request.status === 0 || answer.status === request.status) tally.recordAnswer(answer.milliseconds);
          else if (answer.status === 503) await sleep(100);
          else tally.recordFailure(new Error(`${request.path} was answered with ${answer.status}: ${answer.text.slice(0, 300)}`));
        }
      };
      await Promise.all(Array.from({ length: loops }, loop));
    },
  };
}

function open(url: string, plan: LoadPlan): Load {
  switch (plan.kind) {
    case 'pulls':
      return steadyPulls(url, plan);
    case 'suites':
      return suites(url, plan);
    case 'largest':
      return largest(url, plan);
  }
}

let loads: Load[] = [];
let stopping = new AbortController();
let running: Promise<LoadOutcome>[] = [];

answerMessages<LoadQuestion, LoadOutcome[] | null>(async question => {
  switch (question.verb) {
    case 'prepare':
      loads = question.plans.map(plan => open(question.url, plan));
      for (const load of loads) await load.prepare();
      return null;
    case 'begin':
      stopping = new AbortController();
      running = loads.map(async load => {
        const tally = new Tally();
        await load.run(tally, stopping.signal);
        return tally.outcome();
      });
      return null;
    case 'end':
      stopping.abort();
      return Promise.all(running);
  }
});
