import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Generator } from '../../bench/load/compare.js';
import { findInstalled, generators } from '../../bench/load/generators.js';
import type { Load } from '../../bench/load/load.js';
import { ROUND, roundDigits } from '../../bench/load/messages.js';
import { Worker } from '../../bench/load/worker.js';

const BODY = 'an answer of 24 bytes, ok';

/** Loads of one second. */
describe.runIf(findInstalled().wrk)('a load by wrk', () => {
  let generator: Generator;
  /** In turn. */
  let answers: { status: number; body: string }[];
  let received: { body: string; token: string | undefined }[];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request.setEncoding('utf8')) body += part;
    received.push({ body, token: request.headers['x-token'] as string });
    // wrk sends as fast as it is answered, and other tests need the processor.
    await sleep(5);
    const answer = answers[received.length % answers.length]!;
    response.writeHead(answer.status, { 'Content-Length': answer.body.length }).end(answer.body);
  });
  beforeEach(async () => {
    received = [];
    generator = new Worker(generators.wrk);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(async () => {
    await generator.stop();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const load = (changes: Partial<Load> = {}) =>
    generator.ask({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/path`,
      headers: { 'X-Token': 'a token' },
      bodies: [`first ${ROUND}, ${ROUND}`, 'second'],
      from: 7,
      seconds: 0.3,
      connections: 2,
      status: 201,
      expected: 'ok',
      ...changes,
    });

  it('sends the requests in rotation from the given one, and measures the answers', async () => {
    answers = [{ status: 201, body: BODY }];
    const outcome = await load();
    expect(outcome).toMatchObject({ failures: 0, meanAnswerBytes: BODY.length });
    // At the end, the answers to requests on their way are not counted.
    expect(received.length - outcome.answers).toBeLessThanOrEqual(2);
    expect(outcome.next - 7 - outcome.answers).toBeLessThanOrEqual(4);
    expect(outcome.seconds).toBeGreaterThan(0.9);
    expect(outcome.p50Milliseconds).toBeGreaterThan(0);
    expect(outcome.p99Milliseconds).toBeGreaterThanOrEqual(outcome.p50Milliseconds);
    // Other systems do not tell the processor time of a thread.
    if (process.platform === 'linux') expect(outcome.cpu.main).toBeGreaterThan(0);
    expect(outcome.cpu.main).toBeLessThanOrEqual(outcome.seconds);
    expect(new Set(received.map(({ token }) => token))).toEqual(new Set(['a token']));
    const bodies = received.map(({ body }) => body);
    expect(bodies).toContain('second');
    for (const round of [4, 5, 6]) expect(bodies).toContain(`first ${roundDigits(round)}, ${roundDigits(round)}`);
    expect(bodies).not.toContain(`first ${roundDigits(3)}, ${roundDigits(3)}`);
  });

  it('counts answers with another status or body as failures', async () => {
    answers = [
      { status: 200, body: BODY },
      { status: 201, body: 'another' },
    ];
    const outcome = await load();
    expect(outcome.failures).toBe(outcome.answers);
  });

  it('counts only errors as failures if no text is expected, and sends the first request again and again', async () => {
    answers = [{ status: 200, body: BODY }];
    expect(await load({ expected: null })).toMatchObject({ failures: 0, meanAnswerBytes: 0 });
    expect(new Set(received.map(({ body }) => body))).toEqual(new Set([`first ${ROUND}, ${ROUND}`]));
    answers = [{ status: 422, body: BODY }];
    const refused = await load({ expected: null });
    expect(refused.failures).toBe(refused.answers);
  });

  it('fails where there is no server, and with a number of answers', async () => {
    await expect(load({ url: 'http://127.0.0.1:1/' })).rejects.toThrow(/wrk exited with 1 and printed: .*Connection refused/s);
    await expect(load({ amount: 5 })).rejects.toThrow(/cannot end a load after a number of answers/);
  });
});
