import type { Logger } from '../log.js';
import type { Certificate } from './certificate.js';
import type { Head, HeaderFields } from './head.js';
import type { Answer } from './request.js';

/** What reads and writes HTTP on sockets: uWebSockets.js, or Node's own server. All above that is the same for both. */
export interface Front {
  /** Listens. Null when that is not possible. The number of a port that the system picked stays the same from then on. */
  listen(): Promise<Listener | null>;
  /** Reads the files of the certificate again. True: connections get the new one only from a listener that is opened after this. */
  renew(): Promise<boolean>;
  /** Closes all connections at once. */
  close(): void;
}

export interface Listener {
  /** 0 for a socket in the file system. */
  port: number;
  /** Takes no further connection; those that are open stay so. */
  close(): void;
}

export type OpenFront = (options: FrontOptions) => Front;

export interface FrontOptions {
  /** Of a socket in the file system; else null. */
  path: string | null;
  host: string;
  port: number;
  certificate: Certificate | null;
  fields: HeaderFields;
  /** Told of every connection. @param change 1: it begins, -1: it has ended */
  count: (change: 1 | -1) => void;
  /** Told of every request when its head has arrived. */
  begin: (head: Head, reply: Reply) => Receiver;
  log: Logger;
}

/** What is told how a request goes on. */
export interface Receiver {
  /** Bytes of the body, lent: copied when they are kept. Called at least once, unless the client leaves before. */
  take(chunk: Uint8Array, isLast: boolean): void;
  /** The connection is closed: the client has left, unless its answer was sent. */
  leave(): void;
}

/** How a request is answered. */
export interface Reply {
  /** The address of the client as the socket tells it; empty on a socket in the file system. */
  remoteAddress(): string;
  /** Sends an answer. Returns what to call when the client leaves before all of it is sent. */
  send(answer: Answer, manner: Manner, sent: Sent): () => void;
  /** Closes the connection at once. */
  close(): void;
}

/** What becomes of an answer. */
export interface Sent {
  /** Called when its last byte was handed to the system. */
  end: () => void;
  /** Called when an answer in pieces breaks off. */
  fail: (error: unknown) => void;
}

/** How an answer is sent. */
export interface Manner {
  /** The id of the request. */
  request: string;
  headers: Headers | undefined;
  /** The client said that it closes. */
  closes: boolean;
  /** The answer to HEAD has a length but no body. */
  headOnly: boolean;
  /** The connection is closed behind it. */
  close: boolean;
}

export type Headers = Readonly<Record<string, string>>;
