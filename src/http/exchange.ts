import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { Fault, faults } from '../fault.js';
import type { Logger } from '../log.js';
import { type BodyLimits, readBody } from './body.js';
import { type HeaderFields, readHead } from './head.js';
import type { Answer, Request } from './request.js';
import type { Traffic } from './traffic.js';
import { writeAnswer } from './write.js';

export type Handler = (request: Request) => Answer | Promise<Answer>;

export interface ExchangeOptions {
  handler: Handler;
  fields: HeaderFields;
  bodyLimits: BodyLimits;
  traffic: Traffic;
  log: Logger;
}

/**
 * One request from its head to the end of its answer. Ends exactly once, answered or left by its client, whatever
 * the handler returns or throws: a Fault is answered as such, anything else is logged and answered as internal.
 */
export function exchange(res: HttpResponse, req: HttpRequest, options: ExchangeOptions): void {
  const { handler, fields, bodyLimits, traffic, log } = options;
  const head = readHead(req, fields);
  const { id: request, method, path } = head;
  const start = performance.now();
  let stage: 'receiving' | 'answering' = 'receiving';
  let left = false;
  let ended = false;
  let answered: Answer | null = null;
  /** Whether the request was read to its end: only then another may follow it. */
  let wasRead = false;
  let releaseBody = () => {};
  traffic.startReceiving();

  const end = () => {
    if (ended) return;
    ended = true;
    releaseBody();
    if (left) log.debug({ request, method, path }, 'client left');
    answered?.written?.(!left);
    traffic.end(stage);
  };
  const write = (answer: Answer, headers: Readonly<Record<string, string>> = {}) => {
    answered = answer;
    if (left) {
      end();
      return;
    }
    const { status, body } = answer;
    const milliseconds = Math.round((performance.now() - start) * 100) / 100;
    const { clientName: client, clientVersion: version } = head;
    log.debug({ request, method, path, status, milliseconds, client, version }, 'request');
    // uWebSockets.js says "close" itself only when the server is who closes.
    const own = { 'X-Request-Id': request, ...(head.closes && { Connection: 'close' }) };
    const close = traffic.draining || head.closes || !wasRead;
    writeAnswer(res, { status, body, headers: { ...own, ...headers }, headOnly: method === 'HEAD', close }, end);
  };
  const fail = (error: unknown) => {
    const fault = error instanceof Fault ? error : faults.internal(request);
    if (fault !== error) log.error({ request, method, path, err: error }, 'internal');
    else if (fault.cause) log.error({ request, method, path, err: fault.cause }, fault.errors.join());
    write({ status: fault.status, body: JSON.stringify({ errors: fault.errors }) }, fault.headers);
  };
  const answer = (body: Uint8Array | Fault, whole: boolean) => {
    wasRead = whole;
    stage = 'answering';
    traffic.startAnswering();
    if (body instanceof Fault) {
      fail(body);
      return;
    }
    try {
      const result = handler({ ...head, body, hasLeft: () => left });
      if (result instanceof Promise) result.then(write, fail);
      else write(result);
    } catch (error) {
      fail(error);
    }
  };

  res.onAborted(() => {
    left = true;
    // A handler that is still at work ends the exchange itself.
    if (answered || stage === 'receiving') end();
  });
  if (head.refusal) {
    // Its body is not waited for: what follows such a head may be anything. Answered a moment later, because a
    // request behind it in the same segment makes uWebSockets.js close the connection only while none was answered.
    setImmediate(() => ended || answer(head.refusal!, false));
  } else {
    releaseBody = readBody(res, head.contentLength, bodyLimits, answer);
  }
}
