import type { BlockList } from 'node:net';
import { ApiError, apiErrors } from '../api-error.js';
import { limits } from '../limits.js';
import type { Logger } from '../server/log.js';
import type { Headers, RequestReceiver, ResponseWriter } from './adapter.js';
import { Body, type BodyLimits } from './body.js';
import { applyForwarded, isTrusted } from './forwarded.js';
import type { RequestHead } from './head.js';
import type { InFlight } from './in-flight.js';
import type { LogThrottle } from './log-throttle.js';
import type { MemoryBudget, Owner } from './memory-budget.js';
import type { Answer, Request } from './request.js';

export type Handler = (request: Request) => Answer | Promise<Answer>;

/** Told of each request that ended; 499: its client left. @param unavailable the reason of a 503 */
export type Observe = (path: string, status: number, seconds: number, unavailable: string | null) => void;

const CLIENT_LEFT = 499;

export interface ExchangeOptions {
  handler: Handler;
  bodyLimits: BodyLimits;
  memory: MemoryBudget;
  ownerOf: (token: string | null) => Owner;
  /** Null: no proxy is believed. */
  trustedProxies: BlockList | null;
  scheme: 'http' | 'https';
  inFlight: InFlight;
  /** Requests that failed by no fault of their own. */
  failures: LogThrottle;
  log: Logger;
  observe: Observe;
}

/**
 * One request from its head to the end of its answer. Ends exactly once, answered or left by its client, whatever
 * the handler returns or throws: a Fault is answered as such, anything else is logged and answered as internal.
 */
export class Exchange implements RequestReceiver {
  readonly #body: Body | null;
  readonly #start = performance.now();
  #stage: 'receiving' | 'answering' = 'receiving';
  #left = false;
  #ended = false;
  #answered: Answer | null = null;
  #unavailable: string | null = null;
  #answerBytes = 0;
  #stop = () => {};
  #ownedBy: { owner: Owner } | null = null;
  /** Whether the request was read to its end. Only then may another follow on the connection. */
  #wasRead = false;

  constructor(
    readonly head: RequestHead,
    readonly reply: ResponseWriter,
    readonly options: ExchangeOptions,
  ) {
    const { trustedProxies, scheme } = options;
    head.scheme = scheme;
    if (head.forwarded && trustedProxies && isTrusted(trustedProxies, reply.remoteAddress())) applyForwarded(head, head.forwarded);
    head.hasLeft = () => this.#left;
    options.inFlight.startReceiving();
    if (head.refusal) {
      this.#body = null;
      // The body is not awaited, because the bytes after such a head may be anything. The answer waits a turn: uWebSockets.js closes
      // the connection for a second request in the same packet only as long as the first has no answer.
      setImmediate(() => this.#ended || this.#answer(head.refusal!, false));
    } else {
      this.#body = new Body(head.contentLength, options.bodyLimits, options.memory, this.#owner, (body, whole) =>
        this.#answer(body, whole),
      );
    }
  }

  receive(chunk: Uint8Array, isLast: boolean): void {
    this.#body?.receive(chunk, isLast);
  }

  onClose(): void {
    if (this.#ended) return;
    this.#left = true;
    // A handler that is still at work ends the exchange itself.
    if (this.#answered || this.#stage === 'receiving') this.#end();
  }

  #answer(body: Uint8Array[] | ApiError, whole: boolean): void {
    this.#wasRead = whole;
    this.#stage = 'answering';
    this.options.inFlight.startAnswering();
    if (body instanceof ApiError) {
      this.#fail(body);
      return;
    }
    try {
      this.head.body = body;
      const result = this.options.handler(this.head);
      if (result instanceof Promise) result.then(this.#write).catch(this.#fail);
      else this.#write(result);
    } catch (error) {
      this.#fail(error);
    }
  }

  readonly #write = (answer: Answer, headers?: Headers) => {
    this.#body?.release();
    if (!this.#left && !this.#holds(answer)) {
      answer.written?.(false);
      const { maxBytesPerOwner } = this.options.memory;
      this.#fail(
        answer.body.length > maxBytesPerOwner
          ? apiErrors.answerTooLarge(maxBytesPerOwner)
          : apiErrors.overloaded('memory', 'too many large answers at once', limits.retryAfterSeconds),
      );
      return;
    }
    this.#answered = answer;
    if (this.#left) {
      this.#end();
      return;
    }
    const { log, inFlight } = this.options;
    const { id: request, method, path, wantsClose: closes, clientName: client, clientVersion: version } = this.head;
    const { status } = answer;
    if (log.isLevelEnabled('debug')) {
      const milliseconds = Math.round((performance.now() - this.#start) * 100) / 100;
      log.debug({ request, method, path, status, milliseconds, client, version }, 'request');
    }
    const close = inFlight.draining || closes || !this.#wasRead;
    this.#stop = this.reply.send(
      answer,
      { requestId: request, headers, clientWantsClose: closes, headOnly: method === 'HEAD', close },
      { onSent: this.#end, onError: this.#break },
    );
  };

  /** A part of the answer has been sent: only closing the connection shows that the rest is missing. */
  readonly #break = (error: unknown) => {
    if (this.#ended) return;
    const { id: request, method, path } = this.head;
    this.options.log.error({ request, method, path, err: error }, 'answer aborted after a part of it was sent');
    this.#answered = { status: 500, body: '' };
    this.#end();
    this.reply.close();
  };

  /** Who holds what is held: found once, because it must be given back to the same. */
  readonly #owner = (): Owner => (this.#ownedBy ??= { owner: this.options.ownerOf(this.head.token) }).owner;

  /** Takes the bytes of an answer that may have to wait for its reader. False when that is too much. */
  #holds({ body, memoryBytes = body.length }: Answer): boolean {
    if (memoryBytes <= limits.answerChunkBytes) return true;
    if (!this.options.memory.reserve(this.#owner(), memoryBytes)) return false;
    this.#answerBytes = memoryBytes;
    return true;
  }

  readonly #fail = (error: unknown) => {
    const { id: request, method, path } = this.head;
    const { log } = this.options;
    const fault = error instanceof ApiError ? error : apiErrors.internal(request);
    if (fault !== error) log.error({ request, method, path, err: error }, 'internal');
    else if (fault.cause) this.#tellOfCause(fault);
    this.#unavailable = fault.reason;
    this.#write({ status: fault.status, body: JSON.stringify({ errors: fault.errors }) }, fault.headers);
  };

  /** While a disk is full, every request that writes fails. */
  #tellOfCause({ cause: err, errors }: ApiError): void {
    const times = this.options.failures.hit();
    const { id: request, method, path } = this.head;
    if (times !== null) this.options.log.error({ request, method, path, times, err }, errors.join());
  }

  readonly #end = () => {
    if (this.#ended) return;
    this.#ended = true;
    this.#stop();
    this.#body?.release();
    if (this.#answerBytes > 0) this.options.memory.release(this.#owner(), this.#answerBytes);
    const { id: request, method, path } = this.head;
    if (this.#left) this.options.log.debug({ request, method, path }, 'client left');
    this.#answered?.written?.(!this.#left);
    this.options.inFlight.end(this.#stage);
    const status = this.#left || !this.#answered ? CLIENT_LEFT : this.#answered.status;
    this.options.observe(path, status, (performance.now() - this.#start) / 1000, this.#unavailable);
  };
}
