import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ApiError, apiErrors } from '../../api-error.js';
import { limits } from '../../limits.js';
import type { AdapterOptions, HttpAdapter, Listener, OpenAdapter } from '../adapter.js';
import type { Certificate } from '../certificate.js';
import { readHead } from '../head.js';
import { LogThrottle } from '../log-throttle.js';
import { STATUS_LINES } from '../status-lines.js';
import { IncomingHead } from './incoming-head.js';
import { RequestPipeline } from './request-pipeline.js';
import { NodeResponseWriter } from './response-writer.js';

interface Times {
  headSeconds: number;
  idleSeconds: number;
}

export function openNodeAdapter(times: Times): OpenAdapter {
  return options => new NodeAdapter(options, times);
}

const NOTHING = new Uint8Array();

class NodeAdapter implements HttpAdapter {
  readonly #server: Server | TlsServer;
  readonly #sockets = new Set<Socket>();
  /** By the socket that requests arrive on. With TLS it is not the socket that was accepted. */
  readonly #connections = new WeakMap<Duplex, RequestPipeline>();
  readonly #failures = new LogThrottle();
  readonly #handshakes = new LogThrottle();
  #port: number;

  constructor(
    readonly options: AdapterOptions,
    readonly times: Times,
  ) {
    this.#port = options.port;
    const { certificate } = options;
    const headMilliseconds = 1000 * times.headSeconds;
    const idleMilliseconds = 1000 * times.idleSeconds;
    const settings: ServerOptions = {
      headersTimeout: headMilliseconds,
      connectionsCheckingInterval: headMilliseconds / 10,
      // `Body` limits the time of a body.
      requestTimeout: 0,
      keepAliveTimeout: idleMilliseconds,
      maxHeaderSize: limits.headBytes,
      // Node's own refusal would have no JSON: `refusalOf` looks for the host.
      requireHostHeader: false,
    };
    const server = certificate
      ? createTlsServer({ ...settings, ...secretsOf(certificate), handshakeTimeout: headMilliseconds })
      : createServer(settings);
    this.#server = server;
    server.timeout = idleMilliseconds;
    // Otherwise Node would silently drop headers; `#begin` refuses too many.
    server.maxHeadersCount = 0;
    server.on('connection', (socket: Socket) => this.#open(socket));
    const receive = (request: IncomingMessage, response: ServerResponse) => this.#receive(request, response);
    // Expectations other than 100-continue may be ignored. Node would refuse them with 417 and no reason.
    server.on('request', receive).on('checkExpectation', receive);
    server.on('timeout', (socket: Socket) => this.#isAtWork(socket) || socket.destroy());
    server.on('clientError', (error: ParseError, socket: Duplex) => this.#refuse(error, socket));
    server.on('tlsClientError', ({ message, reason = message }: TlsError, { remoteAddress: client }: Socket) =>
      this.#tell(this.#handshakes, { client, reason }, 'a TLS handshake failed'),
    );
    server.on('error', (err: Error) => server.listening && this.#tell(this.#failures, { err }, 'could not accept a connection'));
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

  async reloadCertificate(): Promise<boolean> {
    const { certificate } = this.options;
    if (certificate) (this.#server as TlsServer).setSecureContext(secretsOf(certificate));
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

  #connectionOf(socket: Duplex): RequestPipeline {
    let connection = this.#connections.get(socket);
    if (!connection) this.#connections.set(socket, (connection = new RequestPipeline()));
    return connection;
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const connection = this.#connectionOf(socket);
    response.once('close', () => {
      if (socket.writable) connection.finish();
      else connection.clear();
      if (connection.isBroken && connection.state === 'idle') socket.destroy();
    });
    // Node would stop reading within its body and not notice that the client left: the answer before it would count as sent.
    const isAhead = connection.state !== 'idle';
    const isLong = isAhead && mayPause(request);
    if (isLong || !connection.enqueue(() => this.#begin(request, response, connection), isAhead ? bytesOf(request) : 0)) socket.destroy();
  }

  #begin(request: IncomingMessage, response: ServerResponse, connection: RequestPipeline): void {
    const head = readHead(new IncomingHead(request), this.options.headerFields);
    // The parser stops after a request that it takes for the last one, and not only the header Connection makes it one.
    head.wantsClose = !response.shouldKeepAlive;
    head.refusal ??= refusalOf(request);
    if (request.rawHeaders.length > 2 * limits.headersPerRequest)
      head.refusal = apiErrors.headTooLarge(limits.headBytes, limits.headersPerRequest);
    const receiver = this.options.startRequest(head, new NodeResponseWriter(response));
    response.once('close', () => receiver.onClose());
    const take = (chunk: Uint8Array, isLast: boolean) => {
      if (isLast) connection.state = 'answering';
      receiver.receive(chunk, isLast);
    };
    if (head.refusal) return;
    if (request.headers['transfer-encoding'] !== undefined) {
      request.on('data', (chunk: Buffer) => take(chunk, false)).on('end', () => take(NOTHING, true));
      // Starts the time limit of the body: chunk sizes and trailers may arrive slowly without a byte of the body.
      take(NOTHING, false);
      return;
    }
    let missing = head.contentLength ?? 0;
    if (missing === 0) take(NOTHING, true);
    else request.on('data', (chunk: Buffer) => take(chunk, (missing -= chunk.length) === 0));
  }

  /** Whether the connection is idle because this server works on an answer, and not because the client neither reads nor sends. */
  #isAtWork(socket: Socket): boolean {
    return this.#connections.get(socket)?.state === 'answering' && socket.writableLength === 0;
  }

  /** Answers bytes that are not a request and closes the connection, after the answers that are still to come. */
  #refuse(error: ParseError, socket: Duplex): void {
    const fault = faultOf(error, this.times);
    const connection = this.#connections.get(socket);
    if (fault && connection?.state === 'answering') {
      connection.isBroken = true;
    } else if (fault && socket.writable) {
      const body = JSON.stringify({ errors: fault.errors });
      const head = [
        `HTTP/1.1 ${STATUS_LINES[fault.status]!}`,
        'Connection: close',
        'Content-Type: application/json',
        `Content-Length: ${Buffer.byteLength(body)}`,
      ];
      socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
    } else {
      socket.destroy();
    }
  }

  #tell(throttle: LogThrottle, details: object, what: string): void {
    const times = throttle.hit();
    if (times !== null) this.options.log.warn({ times, ...details }, what);
  }
}

/** Bytes of a request's headers and of the body that it declares. */
function bytesOf({ rawHeaders, headers }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, Number(headers['content-length'] ?? 0));
}

/** Whether a body may be longer than what Node buffers of an unread one. */
function mayPause({ headers, readableHighWaterMark }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) >= readableHighWaterMark;
}

/** Refuses what Node's parser accepts and uWebSockets.js does not. */
function refusalOf({ httpVersion, headers }: IncomingMessage): ApiError | null {
  if (httpVersion === '1.1') return headers.host === undefined ? apiErrors.malformed('Host is missing') : null;
  if (httpVersion !== '1.0') return apiErrors.malformed(`the version is HTTP/${httpVersion}; send HTTP/1.1`);
  // HTTP/1.0 has no chunks: a proxy in front may see another end of the body.
  return headers['transfer-encoding'] === undefined ? null : apiErrors.malformed('Transfer-Encoding is not part of HTTP/1.0');
}

function secretsOf({ certFile, keyFile }: Certificate): { cert: Buffer; key: Buffer } {
  return { cert: readFileSync(certFile), key: readFileSync(keyFile) };
}

interface TlsError extends Error {
  /** OpenSSL's reason, without the place in its source. */
  reason?: string;
}

interface ParseError {
  code?: string;
  /** The parser's own sentence. */
  reason?: string;
}

/** The answer to an error of the connection. Null: nobody is there to read one. */
function faultOf({ code = '', reason = code }: ParseError, { headSeconds }: Times): ApiError | null {
  if (code === 'HPE_HEADER_OVERFLOW') return apiErrors.headTooLarge(limits.headBytes, limits.headersPerRequest);
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return apiErrors.headTooSlow(headSeconds);
  // The connection ended in the middle of a request.
  if (code === 'HPE_INVALID_EOF_STATE') return null;
  return code.startsWith('HPE_') ? apiErrors.malformed(reason) : null;
}
