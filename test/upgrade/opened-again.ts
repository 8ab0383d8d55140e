import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished } from 'vitest';
import { fileOfPiece } from '../../src/protocol/piece-path.js';
import { signatureOf } from '../../src/server/engine/webhooks/signature.js';
import { Client } from '../harness/client.js';
import type { Clock } from '../harness/clock.js';
import { pathsOf, post, type QueueNode, recordNode } from './ci-run.js';
import { advance, type OpenQueue, type Past, SUITE } from './past.js';
import type { Answered } from './questions.js';

/** Expects all that was answered before. An answer may have more fields, and a text more lines. */
export function expectAnswers(answers: readonly Answered[], before: readonly Answered[]): void {
  const now = new Map(answers.map(([question, status, body]) => [question, { question, status, body }]));
  for (const [question, status, body] of before) {
    const expected = typeof body === 'string' ? { question, status } : { question, status, body };
    expect(now.get(question)).toMatchObject(expected);
    if (typeof body !== 'string') continue;
    const lines = String(now.get(question)!.body).split('\n');
    expect(
      body.split('\n').filter(line => !lines.includes(line)),
      question,
    ).toEqual([]);
  }
}

/** Has the nodes of a queue repeat their last requests, and go on to its end. Each file must run once, and the gate be green. */
export async function goOn(client: Client, clock: Clock, queue: OpenQueue): Promise<void> {
  const { run, nodes } = queue;
  for (const { route, request, answer } of nodes) {
    const { paths, test_files, batch_id, pieces } = answer;
    expect(await post(client, route, request)).toMatchObject({
      ...(paths ? { paths, batch_id } : { test_files }),
      ...(pieces && { pieces }),
    });
  }
  const atWork = new Set<QueueNode>(nodes);
  for (let pulls = 0; atWork.size > 0; pulls++) {
    expect(pulls, 'pulls until every node was done').toBeLessThan(200);
    for (const node of atWork) {
      clock.advance({ seconds: 5 });
      if (!(await advance(client, queue, node))) atWork.delete(node);
    }
  }
  const ran = queue.ran.flat().map(({ path }) => path);
  expect(ran.toSorted()).toEqual([...new Set(ran)].toSorted());
  expect([...new Set(ran.map(fileOfPiece))].toSorted()).toEqual(SUITE.toSorted());
  for (const [i, files] of queue.ran.entries()) await recordNode(client, run, i, files);
  const { commit_hash, branch, node_total } = run.build;
  const query = new URLSearchParams({ commit_hash, branch, node_total: String(node_total), node_build_id: run.ci_run });
  const gate = await client.get(`/v1/builds/completeness?${query}`);
  expect(gate).toMatchObject({ status: 200, json: { is_complete: true, test_files: SUITE.length } });
  for (const node of nodes) expect(pathsOf(node)).toEqual([]);
}

/** Gives the webhook of the project an address that is there. Resolves when what waited for it has come, signed with its secret. */
export async function expectDelivered({ url }: Client, clock: Clock, { cookies }: Past, texts: readonly string[]): Promise<void> {
  const received: string[] = [];
  const take = (body: string, headers: IncomingHttpHeaders) => {
    const signature = signatureOf('a-secret-of-the-fixtures', String(headers['ballast-timestamp']), body);
    expect(headers['ballast-signature']).toBe(signature);
    received.push((JSON.parse(body) as { text: string }).text);
  };
  const server = createServer(async (request, response) => {
    take(await text(request), request.headers);
    response.end();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close().closeAllConnections());
  await once(server, 'listening');
  const webhook_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const page = { 'Ballast-Dashboard': '1', Origin: url, Cookie: cookies.operator };
  const reply = await new Client(url, '').post('/dashboard/projects/settings', { project: 1, settings: { webhook_url } }, page);
  expect(reply.status).toBe(200);
  clock.advance({ days: 1 });
  for (const text of texts) await expect.poll(() => received).toContainEqual(expect.stringContaining(text));
  expect(received).toEqual([...new Set(received)]);
}
