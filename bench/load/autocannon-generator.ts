import { createHistogram } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import { answerMessages } from '../../test/testbed/worker-messages.js';
import { type Cpu, cpuBetween, readCpu } from './cpu.js';
import type { Load } from './load.js';
import { ROUND, roundDigits } from './messages.js';

/**
 * A load at a fixed rate by autocannon, a worker process. autocannon divides the rate among its connections. In each second a connection
 * sends its first request when the second begins, and each other one when the one before is answered.
 */

export interface RateLoad extends Omit<Load, 'amount' | 'connections'> {
  /** Requests per second. */
  rate: number;
}

export interface RateOutcome {
  /** Answers per second. */
  rate: number;
  failures: number;
  seconds: number;
  /** Of the requests that were sent when their second began. The others wait while the server is slow, and would hide that. */
  p50Milliseconds: number;
  p99Milliseconds: number;
  p999Milliseconds: number;
  /** Mean length of the bodies. */
  meanAnswerBytes: number;
  /** The `from` of the next load. */
  next: number;
  /** Processor time of the generator. */
  cpu: Cpu;
}

/** At a higher rate each connection sends several requests per second. */
const MOST_CONNECTIONS = 1000;
/** After the connections were made, until each keeps to its second. */
const SETTLING_SECONDS = 0.5;
/** For answers to the last requests that count. */
const GRACE_SECONDS = 0.2;
/** A request that follows an answer later than this was not waiting for it. */
const PAUSE_MILLISECONDS = 50;

async function generate(load: RateLoad): Promise<RateOutcome> {
  const { url, headers, bodies, seconds, rate, status, expected } = load;
  const connections = Math.min(rate, MOST_CONNECTIONS);
  const parts = bodies.map(body => body.split(ROUND));
  let next = load.from;
  const nextBody = () => {
    const round = roundDigits(Math.floor(next / parts.length));
    return parts[next++ % parts.length]!.join(round);
  };
  const begun = performance.now();
  const from = begun + 1000 * (1 + SETTLING_SECONDS);
  const to = from + 1000 * seconds;
  let opened = 0;
  const setupClient = (client: autocannon.Client) => {
    // autocannon opens all connections at once, and all of their seconds would begin together.
    sleepSync(begun + (1000 * opened++) / connections - performance.now());
    // A connection would send the requests of two seconds in its first one.
    Object.assign(client, { reqsMadeThisSecond: rate });
  };

  const microseconds = createHistogram();
  const answeredAt = new Map<autocannon.Client, number>();
  let [answers, answerBytes, failures] = [0, 0, 0];
  const ended = new Promise<autocannon.Result>((resolve, reject) => {
    const run = autocannon(
      {
        url,
        method: 'POST',
        headers,
        connections,
        overallRate: rate,
        duration: SETTLING_SECONDS + seconds + GRACE_SECONDS,
        sampleInt: 20,
        setupClient,
        requests: [{ setupRequest: request => Object.assign(request, { body: nextBody() }) }],
        verifyBody: body => {
          answerBytes += body!.length;
          return expected === null || body!.includes(expected);
        },
      },
      (error: Error | null, result) => (error ? reject(error) : resolve(result)),
    );
    run.on('response', (client, responseStatus, _bytes, milliseconds) => {
      if (responseStatus !== status) failures += 1;
      const now = performance.now();
      const sentAt = now - milliseconds;
      const isFirst = sentAt - (answeredAt.get(client) ?? 0) > PAUSE_MILLISECONDS;
      answeredAt.set(client, now);
      if (sentAt < from || sentAt >= to) return;
      answers += 1;
      if (isFirst) microseconds.record(Math.max(1, Math.round(milliseconds * 1000)));
    });
  });
  await sleep(from - performance.now());
  const before = readCpu(process.pid);
  await sleep(to - performance.now());
  const cpu = cpuBetween(before, readCpu(process.pid));
  const { errors, mismatches, requests } = await ended;
  const milliseconds = (percent: number) => microseconds.percentile(percent) / 1000;
  return {
    rate: answers / seconds,
    failures: failures + errors + mismatches,
    seconds,
    p50Milliseconds: milliseconds(50),
    p99Milliseconds: milliseconds(99),
    p999Milliseconds: milliseconds(99.9),
    meanAnswerBytes: Math.round(answerBytes / Math.max(1, requests.total)),
    next,
    cpu,
  };
}

function sleepSync(milliseconds: number): void {
  if (milliseconds > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

answerMessages(generate);
