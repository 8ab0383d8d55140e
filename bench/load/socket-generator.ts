import { createHistogram } from 'node:perf_hooks';
import { answerMessages } from '../../test/testbed/worker-messages.js';
import { Connection } from './connection.js';
import { cpuBetween, readCpu } from './cpu.js';
import { type Frame, type Framing, httpFraming, redisFraming } from './framing.js';
import type { Load, Outcome } from './load.js';
import { PreparedRequests } from './prepared-requests.js';

/** A load of prepared requests over raw sockets, a worker process. */

async function generate(load: Load): Promise<Outcome> {
  const { url, from, seconds, amount = Infinity, connections, status, expected } = load;
  const address = new URL(url);
  const [framing, beginning]: [Framing, string] =
    address.protocol === 'redis:' ? [redisFraming, '$'] : [httpFraming, `HTTP/1.1 ${status} `];
  const requests = new PreparedRequests(load, from);
  const microseconds = createHistogram();
  const before = readCpu(process.pid);
  const begun = performance.now();
  const end = amount === Infinity ? begun + 1000 * seconds : Infinity;
  let [sent, answers, answerBytes, failures] = [0, 0, 0, 0];

  const drive = () =>
    new Promise<void>((resolve, reject) => {
      let sentAt = 0;
      const send = () => {
        sentAt = performance.now();
        if (sent >= amount || sentAt >= end) {
          connection.close();
          resolve();
          return;
        }
        sent += 1;
        connection.send(requests.take());
      };
      const onAnswer = (answer: Buffer, { body }: Frame) => {
        microseconds.record(Math.max(1, Math.round(1000 * (performance.now() - sentAt))));
        answers += 1;
        answerBytes += body;
        if (answer.toString('latin1', 0, beginning.length) !== beginning || (expected !== null && !answer.includes(expected)))
          failures += 1;
        send();
      };
      const connection = new Connection(address, framing, onAnswer, reject);
      send();
    });
  await Promise.all(Array.from({ length: connections }, drive));
  return {
    answers,
    failures,
    seconds: (performance.now() - begun) / 1000,
    p50Milliseconds: microseconds.percentile(50) / 1000,
    p99Milliseconds: microseconds.percentile(99) / 1000,
    meanAnswerBytes: answers === 0 ? 0 : Math.round(answerBytes / answers),
    next: requests.next,
    cpu: cpuBetween(before, readCpu(process.pid)),
  };
}

answerMessages(generate);
