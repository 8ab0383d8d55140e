import type { Logger } from 'pino';
import type { Certificate } from './certificate.js';
import type { HeaderFields, RequestHead } from './head.js';
import type { Answer } from './request.js';

/** Reads and writes HTTP on sockets, with uWebSockets.js or Node's own server. Everything above it is the same for both. */
export interface HttpAdapter {
  /** Starts to listen. Resolves with null if it cannot. Later calls keep a port number that the system picked. */
  listen(): Promise<Listener | null>;
  /** Reads the certificate's files again. Resolves with true if only listeners opened later use the new certificate. */
  reloadCertificate(): boolean;
  /** Closes all connections at once. */
  close(): void;
}

export interface Listener {
  /** 0 for a Unix socket. */
  port: number;
  /** Stops listening. Open connections stay open. */
  close(): void;
}

export type OpenAdapter = (options: AdapterOptions) => HttpAdapter;

export interface AdapterOptions {
  /** Path of a Unix socket; null to listen on `host` and `port`. */
  path: string | null;
  host: string;
  port: number;
  certificate: Certificate | null;
  headerFields: HeaderFields;
  /** Called with 1 when a connection opens and with -1 when it closes. */
  countConnection: (change: 1 | -1) => void;
  /** Called for each request when its head has arrived. */
  startRequest: (head: RequestHead, writer: ResponseWriter) => RequestReceiver;
  log: Logger;
}

/** Receives the rest of a request after its head. */
export interface RequestReceiver {
  /**
   * Receives bytes of the body. The chunk is valid only during the call. Called at least once, unless the client disconnects first or
   * the head is refused.
   */
  receive(chunk: Uint8Array, isLast: boolean): void;
  /** Called when the connection closes. If the answer was not sent by then, the client has left. */
  onClose(): void;
}

/** Writes the answer to one request. */
export interface ResponseWriter {
  /** IP address of the other end of the connection; empty on a Unix socket. */
  remoteAddress(): string;
  /** Sends an answer. Returns a function that stops a streamed answer; once the answer is sent, the function does nothing. */
  send(answer: Answer, options: SendOptions, callbacks: SendCallbacks): () => void;
  /** Closes the connection at once. */
  close(): void;
}

/** `send` calls one of the two, once, unless the client disconnects first. */
export interface SendCallbacks {
  /** The last byte was handed to the socket. */
  onSent: () => void;
  /** The next piece of a streamed answer could not be read. */
  onError: (error: unknown) => void;
}

export interface SendOptions {
  requestId: string;
  /** The client asked to close the connection. `close` is then true as well. */
  clientWantsClose: boolean;
  /** The request is HEAD, or the status 304: send the headers, with the length, and no body. */
  headOnly: boolean;
  /** Close the connection after the answer. */
  close: boolean;
}
