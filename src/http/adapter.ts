import type { Logger } from '../server/log.js';
import type { Certificate } from './certificate.js';
import type { HeaderFields, RequestHead } from './head.js';
import type { Answer } from './request.js';

/** Reads and writes HTTP on sockets, with uWebSockets.js or with Node's own server. Everything above it is the same for both. */
export interface HttpAdapter {
  /** Starts to listen. Resolves with null when it cannot. A port number that the system picked is kept for the next call. */
  listen(): Promise<Listener | null>;
  /** Reads the certificate's files again. Resolves with true when only listeners that are opened afterwards use the new certificate. */
  reloadCertificate(): Promise<boolean>;
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
  /** Of a Unix socket. Null: `host` and `port` count. */
  path: string | null;
  host: string;
  port: number;
  certificate: Certificate | null;
  headerFields: HeaderFields;
  /** Called for every connection. @param change 1: it begins, -1: it has ended */
  countConnection: (change: 1 | -1) => void;
  /** Called for every request when its head has arrived. */
  startRequest: (head: RequestHead, reply: ResponseWriter) => RequestReceiver;
  log: Logger;
}

/** Takes what follows the head of a request. */
export interface RequestReceiver {
  /**
   * Takes bytes of the body. The chunk is valid only during the call. Called at least once, unless the client leaves before that or the
   * head is refused.
   */
  receive(chunk: Uint8Array, isLast: boolean): void;
  /** Called when the connection is closed: the client has left, unless its answer was sent. */
  onClose(): void;
}

/** Answers one request. */
export interface ResponseWriter {
  /** The IP address at the other end of the connection; empty on a Unix socket. */
  remoteAddress(): string;
  /** Sends an answer. Returns a function that stops an answer in pieces; it does nothing once the answer is sent. */
  send(answer: Answer, manner: SendOptions, sent: SendCallbacks): () => void;
  /** Closes the connection at once. */
  close(): void;
}

/** Called by `send`: one of the two, once, unless the client leaves before. */
export interface SendCallbacks {
  /** The last byte was handed to the socket. */
  onSent: () => void;
  /** The next piece of an answer could not be read. */
  onError: (error: unknown) => void;
}

/** How an answer is sent. */
export interface SendOptions {
  /** Id of the request. */
  requestId: string;
  /** Besides those of the answer. */
  headers: Headers | undefined;
  /** The client asked to close the connection; `close` is then true, too. */
  clientWantsClose: boolean;
  /** The request is HEAD: headers are sent, with the length, and no body. */
  headOnly: boolean;
  /** The connection is closed after the answer. */
  close: boolean;
}

export type Headers = Readonly<Record<string, string>>;
