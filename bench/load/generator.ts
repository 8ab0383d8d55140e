import { createHistogram } from 'node:perf_hooks';
import autocannon from 'autocannon';
import { ROUND, roundDigits } from './messages.js';
import { answerMessages } from './worker-messages.js';

/** The load generator, a worker process: a message describes the load, its reply the answers. */

export interface Load {
  url: string;
  /** Paths of GET requests, in rotation, instead of bodies. */
  paths?: string[];
  headers: Record<string, string>;
  /** Sent in rotation with `ROUND` replaced, starting with number `from`. */
  bodies: string[];
  from: number;
  /** The duration, or the number of answers that ends the load. */
  seconds: number;
  amount?: number;
  connections: number;
  /** Every correct answer has this status, and a body that contains this text. */
  status: number;
  expected: string;
}

export interface Outcome {
  answers: number;
  /** Answers with another status or body, connection errors, timeouts. */
  failures: number;
  seconds: number;
  p50Milliseconds: number;
  p99Milliseconds: number;
  meanAnswerBytes: number;
  /** The `from` of the next load. */
  next: number;
}

async function generate(load: Load): Promise<Outcome> {
  const { url, headers, bodies, paths, from, seconds, amount, connections, status, expected } = load;
  const parts = bodies.map(body => body.split(ROUND));
  const microseconds = createHistogram();
  let next = from;
  let answerBytes = 0;
  let answers = 0;
  let failures = 0;
  const nextPath = (paths: string[]) => paths[next++ % paths.length]!;
  const nextBody = () => {
    const round = roundDigits(Math.floor(next / parts.length));
    return parts[next++ % parts.length]!.join(round);
  };
  const { duration, errors, mismatches } = await new Promise<autocannon.Result>((resolve, reject) => {
    const run = autocannon(
      {
        url,
        method: paths ? 'GET' : 'POST',
        headers,
        connections,
        pipelining: 1,
        duration: seconds,
        ...(amount && { amount }),
        sampleInt: 20,
        requests: [{ setupRequest: request => Object.assign(request, paths ? { path: nextPath(paths) } : { body: nextBody() }) }],
        verifyBody: body => {
          answerBytes += body!.length;
          return body!.includes(expected);
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
  };
}

answerMessages(generate);
