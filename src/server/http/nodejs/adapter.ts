import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { limits } from '../../../protocol/limits.js';
import type { AdapterOptions, HttpAdapter, Listener, OpenAdapter } from '../adapter.js';
import { STATUS_LINES } from '../answer.js';
import { type ApiError, httpErrors } from '../api-error.js';
import { type Certificate, readPem } from '../certificate.js';
import { type RequestHead, readHead } from '../head.js';
import { LogThrottle } from '../log-throttle.js';
import { NodeResponseWriter, parsedHead } from './message.js';
import { RequestPipeline } from './request-pipeline.js';

interface Timeouts {
  headSeconds: number;
  idleSeconds: number;
}

export function openNodeAdapter(timeouts: Timeouts): OpenAdapter {
  return options => new NodeAdapter(options, timeouts);
}

const NO_BYTES = new Uint8Array();

class NodeAdapter implements HttpAdapter {
  readonly #server: Server | TlsServer;
  readonly #sockets = new Set<Socket>();
  /** Keyed by the socket that requests arrive on. With TLS it is not the socket that was accepted. */
  readonly #pipelines = new WeakMap<Duplex, RequestPipeline>();
  readonly #acceptThrottle = new LogThrottle();
  readonly #handshakeThrottle = new LogThrottle();
  #port: number;

  constructor(
    readonly options: AdapterOptions,
    readonly timeouts: Timeouts,
  ) {
    this.#port = options.port;
    const server = newServer(options.certificate, timeouts);
    this.#server = server;
    server.on('connection', (socket: Socket) => this.#open(socket));
    const receive = (request: IncomingMessage, response: ServerResponse) => this.#receive(request, response);
    // Expectations other than 100-continue may be ignored. Node would refuse them with 417 and no reason.
    server.on('request', receive).on('checkExpectation', receive);
    server.on('timeout', (socket: Socket) => this.#isAnswering(socket) || socket.destroy());
    server.on('clientError', (error: ConnectionError, socket: Duplex) => this.#refuse(error, socket));
    server.on('tlsClientError', ({ message, reason = message }: ConnectionError, { remoteAddress: client }: Socket) =>
      this.#warn(this.#handshakeThrottle, { client, reason }, 'a TLS handshake failed'),
    );
    server.on('error', (err: Error) => server.listening && this.#warn(this.#acceptThrottle, { err }, 'could not accept a connection'));
  }

  listen(): Promise<Listener | null> {
    const { path, host } = this.options;
    const server = this.#server;
    return new Promise(resolve => {
      const fail = () => {
        server.off('listening', succeed);
        resolve(null);
      };
      const succeed = () => {
        server.off('error', fail);
        if (path === null) this.#port = (server.address() as AddressInfo).port;
        // http.Server's own close() would also close idle connections.
        resolve({ port: path === null ? this.#port : 0, close: () => void NetServer.prototype.close.call(server) });
      };
      server.once('error', fail).once('listening', succeed);
      server.listen(path === null ? { host, port: this.#port } : { path });
    });
  }

  reloadCertificate(): boolean {
    const { certificate } = this.options;
    if (certificate) (this.#server as TlsServer).setSecureContext(readPem(certificate));
    return false;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #open(socket: Socket): void {
    this.#sockets.add(socket);
    this.options.countConnection(1);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.options.countConnection(-1);
    });
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const pipeline = this.#pipelines.get(socket) ?? new RequestPipeline();
    this.#pipelines.set(socket, pipeline);
    response.once('close', () => {
      if (socket.writable) pipeline.finish();
      else pipeline.clear();
      if (pipeline.isBroken && pipeline.state === 'idle') socket.destroy();
    });
    const mustWait = pipeline.state !== 'idle';
    // Node would stop reading within the body and not notice that the client left. The answer before it would then count as sent.
    const wouldPause = mustWait && mayPause(request);
    const start = () => this.#start(request, response, pipeline);
    if (wouldPause || !pipeline.enqueue(start, mustWait ? bytesOf(request) : 0)) socket.destroy();
  }

  #start(request: IncomingMessage, response: ServerResponse, pipeline: RequestPipeline): void {
    const head = this.#readHead(request, response);
    const receiver = this.options.startRequest(head, new NodeResponseWriter(response));
    response.once('close', () => receiver.onClose());
    const receive = (chunk: Uint8Array, isLast: boolean) => {
      if (isLast) pipeline.state = 'answering';
      receiver.receive(chunk, isLast);
    };
    if (head.refusal) return;
    if (head.isChunked) {
      request.on('data', (chunk: Buffer) => receive(chunk, false)).on('end', () => receive(NO_BYTES, true));
      // Starts the time limit of the body: chunk sizes and trailers may arrive slowly without a byte of the body.
      receive(NO_BYTES, false);
      return;
    }
    let missing = head.contentLength ?? 0;
    if (missing === 0) receive(NO_BYTES, true);
    else request.on('data', (chunk: Buffer) => receive(chunk, (missing -= chunk.length) === 0));
  }

  #readHead(request: IncomingMessage, response: ServerResponse): RequestHead {
    const head = readHead(parsedHead(request), this.options.headerFields);
    // Node's parser may end the connection for other reasons than a Connection header.
    head.wantsClose = !response.shouldKeepAlive;
    head.refusal ??= refusalOf(request);
    if (request.rawHeaders.length > 2 * limits.headersPerRequest)
      head.refusal = httpErrors.headTooLarge(limits.headBytes, limits.headersPerRequest);
    return head;
  }

  /** Tells whether an idle connection waits for an answer of this server, and not for a client that neither reads nor sends. */
  #isAnswering(socket: Socket): boolean {
    return this.#pipelines.get(socket)?.state === 'answering' && socket.writableLength === 0;
  }

  /** Answers bytes that are not a request, and closes the connection after the answers before it. */
  #refuse(error: ConnectionError, socket: Duplex): void {
    const apiError = apiErrorOf(error, this.timeouts);
    const pipeline = this.#pipelines.get(socket);
    if (apiError && pipeline?.state === 'answering') {
      pipeline.isBroken = true;
    } else if (apiError && socket.writable) {
      const body = JSON.stringify({ errors: apiError.errors });
      const head = [
        `HTTP/1.1 ${STATUS_LINES[apiError.status]!}`,
        'Connection: close',
        'Content-Type: application/json',
        `Content-Length: ${Buffer.byteLength(body)}`,
      ];
      socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
    } else {
      socket.destroy();
    }
  }

  #warn(throttle: LogThrottle, details: object, text: string): void {
    const times = throttle.hit();
    if (times !== null) this.options.log.warn({ times, ...details }, text);
  }
}

function newServer(certificate: Certificate | null, { headSeconds, idleSeconds }: Timeouts): Server | TlsServer {
  const options: ServerOptions = {
    headersTimeout: 1000 * headSeconds,
    connectionsCheckingInterval: 100 * headSeconds,
    // `Body` limits the time of a body.
    requestTimeout: 0,
    keepAliveTimeout: 1000 * idleSeconds,
    maxHeaderSize: limits.headBytes,
    // Node would refuse without JSON. `refusalOf` checks for Host instead.
    requireHostHeader: false,
  };
  const server = certificate
    ? createTlsServer({ ...options, ...readPem(certificate), handshakeTimeout: 1000 * headSeconds })
    : createServer(options);
  server.timeout = 1000 * idleSeconds;
  // Node would silently drop headers beyond the limit. `#readHead` refuses them instead.
  server.maxHeadersCount = 0;
  return server;
}

/** Bytes of a request's headers and of its declared body. */
function bytesOf({ rawHeaders, headers }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, Number(headers['content-length'] ?? 0));
}

/** Tells whether the body may be longer than what Node buffers unread. */
function mayPause({ headers, readableHighWaterMark }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) >= readableHighWaterMark;
}

/** Refuses what Node's parser accepts and uWebSockets.js does not. */
function refusalOf({ httpVersion, headers }: IncomingMessage): ApiError | null {
  if (httpVersion === '1.1') return headers.host === undefined ? httpErrors.malformed('Host is missing') : null;
  if (httpVersion !== '1.0') return httpErrors.malformed(`the version is HTTP/${httpVersion}; send HTTP/1.1`);
  // HTTP/1.0 has no chunks: a proxy in front may see another end of the body.
  return headers['transfer-encoding'] === undefined ? null : httpErrors.malformed('Transfer-Encoding is not part of HTTP/1.0');
}

interface ConnectionError extends Error {
  code?: string;
  /** The message of OpenSSL, without the position in its source, or of the parser. */
  reason?: string;
}

/** Returns the answer to a connection error; null if nobody is left to read one. */
function apiErrorOf({ code = '', reason = code }: ConnectionError, { headSeconds }: Timeouts): ApiError | null {
  if (code === 'HPE_HEADER_OVERFLOW') return httpErrors.headTooLarge(limits.headBytes, limits.headersPerRequest);
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return httpErrors.headTooSlow(headSeconds);
  // The connection ended in the middle of a request.
  if (code === 'HPE_INVALID_EOF_STATE') return null;
  return code.startsWith('HPE_') ? httpErrors.malformed(reason) : null;
}
