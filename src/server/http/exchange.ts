import type { BlockList } from 'node:net';
import type { Logger } from 'pino';
import { limits } from '../../protocol/limits.js';
import type { RequestReceiver, ResponseWriter } from './adapter.js';
import type { Outbox } from './answer.js';
import { ANSWER_CHUNK_BYTES } from './answer.js';
import { ApiError, httpErrors } from './api-error.js';
import { Body, type BodyLimits } from './body.js';
import { applyForwarded, clientAddress, isTrusted } from './forwarded.js';
import type { RequestHead } from './head.js';
import type { InFlight, MemoryBudget, Owner } from './in-flight.js';
import type { LogThrottle } from './log-throttle.js';
import type { Answer, Peer, Request } from './request.js';

export type Handler = (request: Request) => Answer | Promise<Answer>;

/** An observer of requests. */
export interface Observer {
  /** A request ended. @param unavailable the reason of a 503 */
  ended(request: Request, status: number, seconds: number, unavailable: string | null): void;
  /** A request is answered with an error. */
  failed(request: Request, error: ApiError): void;
}

/** Status for metrics only: the client left before it was answered. */
const CLIENT_LEFT = 499;

/** Bounds of requests, and the means to recognize their clients. */
export interface RequestOptions extends BodyLimits {
  memory: MemoryBudget;
  /** The most bytes that a request may have as its body; Infinity: as many as the server takes; 0: nobody reads it. */
  bodyLimitOf: (request: Pick<Request, 'method' | 'path'>) => number;
  /** Finds the project that a token belongs to. */
  ownerOf: (token: string | null) => Owner;
  /** Null: no proxy is trusted. */
  trustedProxies: BlockList | null;
  /** The error answer for what a handler threw; null: it is a defect. */
  toApiError: (error: unknown) => ApiError | null;
}

export interface ExchangeOptions extends RequestOptions {
  handler: Handler;
  scheme: 'http' | 'https';
  inFlight: InFlight;
  outbox: Outbox;
  /** Limits the log lines about errors that have a cause, such as a full disk. */
  causeThrottle: LogThrottle;
  log: Logger;
  observer: Observer;
}

/**
 * One request from its head to the end of its answer. It ends exactly once: answered, or left by the client. A defect that the handler
 * throws is logged and answered as an internal error.
 */
export class Exchange implements RequestReceiver, Peer {
  readonly #body: Body | null;
  readonly #startedAt = performance.now();
  #stage: 'receiving' | 'answering' = 'receiving';
  #hasLeft = false;
  #hasEnded = false;
  /** The answer that waits for a write to the disk, or is being sent. */
  #answer: Answer | null = null;
  #unavailable: string | null = null;
  #answerBytes = 0;
  #stopSending = () => {};
  #foundOwner: { owner: Owner } | null = null;
  /** True once the body was received to its end. Only then may the connection carry another request. */
  #isBodyRead = false;

  constructor(
    readonly head: RequestHead,
    readonly writer: ResponseWriter,
    readonly options: ExchangeOptions,
  ) {
    const { trustedProxies, scheme, inFlight, memory } = options;
    head.scheme = scheme;
    if (head.forwarded && trustedProxies && isTrusted(trustedProxies, writer.remoteAddress())) applyForwarded(head, head.forwarded);
    head.hasLeft = () => this.#hasLeft;
    head.peer = this;
    inFlight.startReceiving();
    if (head.refusal) {
      this.#body = null;
      // The body is not awaited, because the bytes after such a head may be anything. The answer waits a turn: uWebSockets.js closes
      // the connection for a second request in the same packet only while the first has no answer.
      setImmediate(() => this.#hasEnded || this.#handle(head.refusal!, false));
    } else {
      this.#body = new Body(head.contentLength, options, options.bodyLimitOf(head), memory, this.#findOwner, (body, isRead) =>
        this.#handle(body, isRead),
      );
    }
  }

  address(): string {
    return clientAddress(this.writer.remoteAddress(), this.head.forwardedFor, this.options.trustedProxies);
  }

  receive(chunk: Uint8Array, isLast: boolean): void {
    this.#body?.receive(chunk, isLast);
  }

  onClose(): void {
    if (this.#hasEnded) return;
    this.#hasLeft = true;
    // A handler that is still running ends the exchange itself.
    if (this.#answer || this.#stage === 'receiving') this.#end();
  }

  #handle(body: Uint8Array[] | ApiError, isBodyRead: boolean): void {
    this.#isBodyRead = isBodyRead;
    this.#stage = 'answering';
    this.options.inFlight.startAnswering();
    if (body instanceof ApiError) {
      this.#answerError(body);
    } else {
      this.head.body = body;
      this.#respond();
    }
  }

  #respond(): void {
    try {
      const answer = this.options.handler(this.head);
      if (answer instanceof Promise) answer.then(found => this.#send(found)).catch((error: unknown) => this.#answerError(error));
      else this.#send(answer);
    } catch (error) {
      this.#answerError(error);
    }
  }

  #send(answer: Answer): void {
    this.#body?.release();
    if (!this.#hasLeft && !this.#reserve(answer)) {
      answer.onEnd?.(false);
      this.#answerError(this.#tooLarge(answer));
      return;
    }
    this.#answer = answer;
    if (this.#hasLeft) {
      this.#end();
      return;
    }
    // uWebSockets.js closes the connection for a second request in the same packet if the first has no answer yet. Clients may send
    // several GETs at once, but nothing may follow chunks: see `write`.
    if (answer.saved || this.head.method === 'POST' || this.head.isChunked) this.options.outbox.add(this, answer.saved ?? null);
    else this.write();
  }

  /** Writes the answer, unless the client left meanwhile. */
  write(): void {
    if (this.#hasEnded) return;
    const answer = this.#answer!;
    const { id: requestId, method, wantsClose, isChunked } = this.head;
    // uWebSockets.js accepts malformed chunks. A proxy may see another end of such a body, so the bytes after it are not read as a request.
    const close = this.options.inFlight.draining || wantsClose || isChunked || !this.#isBodyRead;
    const headOnly = method === 'HEAD' || answer.status === 304;
    const options = { requestId, clientWantsClose: wantsClose, headOnly, close };
    try {
      this.#logRequest(answer.status);
      this.#stopSending = this.writer.send(answer, options, { onSent: this.#end, onError: this.#abort });
    } catch (error) {
      // The other answers of the turn are written after it.
      this.#abort(error);
    }
  }

  /** Answers with an error instead, unless the client left: what the answer tells could not be saved. */
  fail(error: unknown): void {
    if (!this.#hasEnded) this.#answerError(error);
  }

  /** Fields of each line of the log about the request. */
  get #facts(): { request: string; method: string; path: string } {
    const { id: request, method, path } = this.head;
    return { request, method, path };
  }

  #logRequest(status: number): void {
    const { log } = this.options;
    if (!log.isLevelEnabled('debug')) return;
    const { clientName: client, clientVersion: version } = this.head;
    const milliseconds = Math.round((performance.now() - this.#startedAt) * 100) / 100;
    log.debug({ ...this.#facts, status, milliseconds, client, version }, 'request');
  }

  /** Closes the connection: after a part of the answer was sent, only that shows the client that the rest is missing. */
  readonly #abort = (error: unknown) => {
    if (this.#hasEnded) return;
    this.options.log.error({ ...this.#facts, err: error }, 'answer aborted after a part of it was sent');
    this.#answer = { status: 500, body: '' };
    this.#end();
    this.writer.close();
  };

  /** Finds the owner once, because memory must be released for the owner that it was reserved for. */
  readonly #findOwner = (): Owner => (this.#foundOwner ??= { owner: this.options.ownerOf(this.head.token) }).owner;

  /** Reserves memory for an answer that may have to wait for its reader. Returns false if that is too much. */
  #reserve({ body, memoryBytes = body.length }: Answer): boolean {
    if (memoryBytes <= ANSWER_CHUNK_BYTES) return true;
    if (!this.options.memory.reserve(this.#findOwner(), memoryBytes)) return false;
    this.#answerBytes = memoryBytes;
    return true;
  }

  #tooLarge({ body }: Answer): ApiError {
    const { maxBytesPerOwner } = this.options.memory;
    return body.length > maxBytesPerOwner
      ? httpErrors.answerTooLarge(maxBytesPerOwner)
      : httpErrors.overloaded('memory', 'too many large answers at once', limits.retryAfterSeconds);
  }

  #answerError(error: unknown): void {
    const known = this.options.toApiError(error);
    const apiError = known ?? httpErrors.internal(this.head.id);
    if (!known) this.options.log.error({ ...this.#facts, err: error }, 'internal');
    else if (apiError.cause) this.#logCause(apiError);
    this.#unavailable = apiError.reason;
    this.options.observer.failed(this.head, apiError);
    this.#send({ status: apiError.status, body: JSON.stringify({ errors: apiError.errors }), headers: apiError.headers });
  }

  /** Throttled: while a disk is full, every request that writes fails. */
  #logCause({ cause: err, errors }: ApiError): void {
    const times = this.options.causeThrottle.hit();
    if (times !== null) this.options.log.error({ ...this.#facts, times, err }, errors.join());
  }

  readonly #end = () => {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#stopSending();
    this.#body?.release();
    if (this.#answerBytes > 0) this.options.memory.release(this.#findOwner(), this.#answerBytes);
    if (this.#hasLeft) this.options.log.debug(this.#facts, 'client left');
    this.#answer?.onEnd?.(!this.#hasLeft);
    this.options.inFlight.end(this.#stage);
    const status = this.#hasLeft || !this.#answer ? CLIENT_LEFT : this.#answer.status;
    this.options.observer.ended(this.head, status, (performance.now() - this.#startedAt) / 1000, this.#unavailable);
    // What still refers to this exchange need not keep its answer in memory.
    this.#answer = null;
  };
}
