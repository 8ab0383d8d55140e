import { createHistogram } from 'node:perf_hooks';
import autocannon from 'autocannon';
import { answerMessages } from '../../test/testbed/worker-messages.js';
import { cpuBetween, readCpu } from './cpu.js';
import type { Load, Outcome } from './load.js';
import { ROUND, roundDigits } from './messages.js';

/** A load by autocannon, a worker process. Users can repeat it, but it takes more time for a request than a fast server does. */

async function generate(load: Load): Promise<Outcome> {
  const { url, headers, bodies, from, seconds, amount, connections, status, expected } = load;
  const parts = bodies.map(body => body.split(ROUND));
  const microseconds = createHistogram();
  let next = from;
  let answerBytes = 0;
  let answers = 0;
  let failures = 0;
  const nextBody = () => {
    const round = roundDigits(Math.floor(next / parts.length));
    return parts[next++ % parts.length]!.join(round);
  };
  const before = readCpu(process.pid);
  const { duration, errors, mismatches } = await new Promise<autocannon.Result>((resolve, reject) => {
    const run = autocannon(
      {
        url,
        method: 'POST',
        headers,
        connections,
        pipelining: 1,
        duration: seconds,
        ...(amount && { amount }),
        sampleInt: 20,
        requests: [{ setupRequest: request => Object.assign(request, { body: nextBody() }) }],
        verifyBody: body => {
          answerBytes += body!.length;
          return expected === null || body!.includes(expected);
        },
      },
      (error: Error | null, result) => (error ? reject(error) : resolve(result)),
    );
    run.on('response', (_client, responseStatus, _bytes, milliseconds) => {
      answers += 1;
      if (responseStatus !== status) failures += 1;
      microseconds.record(Math.max(1, Math.round(milliseconds * 1000)));
    });
  });
  return {
    answers,
    failures: failures + errors + mismatches,
    seconds: duration,
    p50Milliseconds: microseconds.percentile(50) / 1000,
    p99Milliseconds: microseconds.percentile(99) / 1000,
    meanAnswerBytes: answers === 0 ? 0 : Math.round(answerBytes / answers),
    next,
    cpu: cpuBetween(before, readCpu(process.pid)),
  };
}

answerMessages(generate);
