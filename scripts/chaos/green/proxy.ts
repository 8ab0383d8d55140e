import { once } from 'node:events';
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { HEARTBEAT, TEST_QUEUE } from '../../../test/testbed/node-process.js';
import { pick, type Random } from '../../../test/testbed/random.js';
import { type Answer, type Forged, forgedAnswers, wrongAnswers } from './answers.js';
import { Evidence } from './evidence.js';
import type { Operator } from './operator.js';
import type { Operation, ProxyFault, RequestFaults } from './scenario.js';

/** The proxy between the jobs of a CI run and the server. Each job has a listener of its own, which identifies it. */

const LONGEST_DELAY_MILLISECONDS = 300;

interface Request {
  method: string;
  target: string;
  /** Without the query. */
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** Treatment of the requests of one job by a listener. */
export interface Client {
  name: string;
  requestFaults: RequestFaults | null;
  losesHeartbeats: boolean;
  random: Random;
  /** Called instead of sending the n-th answer, counted from 1. */
  killAt: { answer: number; kill: () => void } | null;
}

export interface Listener {
  url: string;
  /** One line for each request: what the proxy did. */
  log: string[];
  /** When the client pulled last; 0: it never did. */
  lastPullAt: number;
  close(): void;
}

/** The servers behind it. */
export type Servers = Pick<Operator, 'url' | 'perform'>;

export class FaultProxy {
  readonly evidence = new Evidence();
  #requests = 0;
  readonly #answers: { client: string; path: string; answer: Answer }[] = [];

  constructor(
    readonly servers: Servers,
    readonly operations: readonly Operation[],
  ) {}

  async listen(client: Client): Promise<Listener> {
    let [requests, answers] = [0, 0];
    const server: HttpServer = createServer((incoming, outgoing) => {
      void (async () => {
        const request = await read(incoming);
        if (request.path === TEST_QUEUE) listener.lastPullAt = performance.now();
        const answer = await this.#answer(request, client, requests++, listener.log);
        answers += 1;
        if (client.killAt?.answer === answers) {
          listener.log.push('  its process is killed before the answer');
          client.killAt.kill();
        } else write(answer, outgoing);
      })().catch(() => outgoing.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const listener: Listener = {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      log: [],
      lastPullAt: 0,
      close() {
        server.close();
        server.closeAllConnections();
      },
    };
    return listener;
  }

  /** Returns null if the connection must end without an answer. */
  async #answer(
    request: Request,
    { name, requestFaults, losesHeartbeats, random }: Client,
    count: number,
    log: string[],
  ): Promise<Answer | null> {
    const note = (outcome: string) => log.push(`  ${request.method} ${request.target.slice(0, 100)}: ${outcome}`);
    // Always drawn, so that later requests do not depend on the faults of earlier ones.
    const [chance, kind, delay] = [random(), random(), random()];
    const cutOff = requestFaults?.cutOff;
    if (losesHeartbeats && request.path === HEARTBEAT) {
      note('cut off');
      return null;
    }
    if (cutOff && count >= cutOff.from && count < cutOff.from + cutOff.requests) {
      note('cut off');
      return null;
    }
    const fault = requestFaults && chance < requestFaults.chance ? pick(() => kind, requestFaults.faults) : null;
    if (fault?.name === 'delayed') await sleep(LONGEST_DELAY_MILLISECONDS * delay);
    if (fault?.name === 'sent twice') await this.#forward(request, name);
    const original = !fault || fault.served ? await this.#forward(request, name) : null;
    const answer = fault ? this.#faultyAnswer(request, name, fault, original) : original;
    const outcome = fault ? `${fault.name}, ${fault.served ? 'served' : 'not served'}` : 'passed on';
    note(`${outcome}: ${answer ? `${answer.status} ${answer.body.slice(0, 300)}` : 'no answer'}`);
    return answer;
  }

  #faultyAnswer(request: Request, client: string, { name }: ProxyFault, original: Answer | null): Answer | null {
    if (name === 'lost') return null;
    if (name in wrongAnswers) return wrongAnswers[name]!(original?.body ?? '');
    if (!(name in forgedAnswers)) return original;
    const earlier = this.#answers.filter(({ path, answer }) => path === request.path && answer !== original);
    return forgedAnswers[name as Forged](request.path, {
      otherNode: earlier.findLast(answer => answer.client !== client)?.answer ?? original,
      sameNode: earlier.findLast(answer => answer.client === client)?.answer ?? original,
    });
  }

  async #forward(request: Request, client: string): Promise<Answer | null> {
    this.#requests += 1;
    for (const operation of this.operations) if (operation.at === this.#requests) this.servers.perform(operation);
    const url = await this.servers.url();
    if (url === null) return null;
    const answer = await exchange(url, request);
    this.evidence.add(request.path, request.body, answer);
    if (answer) this.#answers.push({ client, path: request.path, answer });
    return answer;
  }
}

async function read(incoming: IncomingMessage): Promise<Request> {
  const { method = '', url: target = '', headers } = incoming;
  return { method, target, path: target.split('?')[0]!, headers, body: await text(incoming) };
}

/** Request headers that depend on the connection. */
const CONNECTION_HEADERS = ['host', 'connection', 'transfer-encoding', 'content-length'];
const ANSWER_HEADERS = /^(content-type|location|retry-after|x-ballast.*)$/;

/** Sends the request to the server. Returns null if the connection ended without a complete answer. */
async function exchange(url: string, { method, target, headers, body }: Request): Promise<Answer | null> {
  const forwarded = Object.fromEntries(Object.entries(headers).filter(([name]) => !CONNECTION_HEADERS.includes(name)));
  const outgoing = send(`${url}${target}`, { method, agent: false, headers: { ...forwarded, 'content-length': Buffer.byteLength(body) } });
  try {
    outgoing.end(body);
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    const answerHeaders = Object.entries(incoming.headers).filter(([name]) => ANSWER_HEADERS.test(name)) as [string, string][];
    return { status: incoming.statusCode!, headers: Object.fromEntries(answerHeaders), body: await text(incoming) };
  } catch {
    outgoing.on('error', () => {}).destroy();
    return null;
  }
}

function write(answer: Answer | null, outgoing: ServerResponse): void {
  if (!answer) return void outgoing.destroy();
  const { status, headers, body, isCutOff } = answer;
  const bytes = Buffer.from(body);
  const hasBody = status !== 204 && status !== 304;
  outgoing.writeHead(status, { ...headers, ...(hasBody && { 'Content-Length': bytes.length + (isCutOff ? 5 : 0) }) });
  if (!isCutOff) return void outgoing.end(hasBody ? bytes : undefined);
  outgoing.write(bytes, () => outgoing.destroy());
}
