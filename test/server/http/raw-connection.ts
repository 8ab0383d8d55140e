import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Handler } from '../../../src/server/http/exchange.js';
import { type Listening, listenWith } from '../../harness/server.js';

export interface RawReply {
  status: number;
  /** By lower-case name. */
  headers: Record<string, string>;
  text: string;
  /** Of an answer in JSON; null: the answer is something else. */
  json: any;
}

/** A connection that sends any bytes. */
export class RawConnection {
  #received = Buffer.alloc(0);
  #onChange = () => {};
  #ended = false;

  private constructor(readonly socket: Socket) {
    socket.on('data', (bytes: Buffer) => {
      this.#received = Buffer.concat([this.#received, bytes]);
      this.#onChange();
    });
    for (const event of ['end', 'close', 'error']) {
      socket.on(event, () => {
        this.#ended = true;
        this.#onChange();
      });
    }
  }

  /** @param parts what is sent at once */
  static async open(url: string, ...parts: (string | Uint8Array)[]): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    await once(socket, 'connect');
    onTestFinished(() => void socket.destroy());
    const connection = new RawConnection(socket);
    if (parts.length > 0) connection.send(...parts);
    return connection;
  }

  send(...parts: (string | Uint8Array)[]): void {
    this.socket.write(Buffer.concat(parts.map(part => Buffer.from(part as string))));
  }

  /** Returns the next complete answer; null if the server closed the connection first. */
  async reply(): Promise<RawReply | null> {
    for (;;) {
      const reply = this.#readReply();
      if (reply) return reply;
      if (this.#ended) return null;
      await new Promise<void>(resolve => (this.#onChange = resolve));
    }
  }

  /** Resolves when the server has closed the connection, with the bytes that were not read yet. */
  async closed(): Promise<string> {
    while (!this.#ended) await new Promise<void>(resolve => (this.#onChange = resolve));
    return this.#received.toString();
  }

  leave(): void {
    this.socket.destroy();
  }

  #readReply(): RawReply | null {
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd < 0) return null;
    const [line = '', ...fields] = this.#received.subarray(0, headEnd).toString().split('\r\n');
    const headers: Record<string, string> = {};
    for (const field of fields) {
      const colon = field.indexOf(':');
      headers[field.slice(0, colon).toLowerCase()] = field.slice(colon + 1).trim();
    }
    const end = headEnd + 4 + Number(headers['content-length'] ?? 0);
    if (this.#received.length < end) return null;
    const text = this.#received.subarray(headEnd + 4, end).toString();
    this.#received = this.#received.subarray(end);
    return { status: Number(line.split(' ')[1]), headers, text, json: /^[[{]/.test(text) ? JSON.parse(text) : null };
  }
}

/** Starts the HTTP layer with a handler, and opens a connection to it. */
export async function connectTo(
  handler: Handler,
  ...parts: (string | Uint8Array)[]
): Promise<{ server: Listening; connection: RawConnection }> {
  const server = await listenWith(handler);
  return { server, connection: await RawConnection.open(server.url, ...parts) };
}

/** The head of a request, including the empty line. */
export function requestHead(line: string, fields: readonly string[] = []): string {
  return [`${line} HTTP/1.1`, 'Host: ballast', ...fields, '', ''].join('\r\n');
}

/** A complete POST with a body of known length. */
export function postRequest(path: string, token: string, body: string): string {
  const fields = [`SERVICE-TEST-SUITE-TOKEN: ${token}`, `Content-Length: ${Buffer.byteLength(body)}`];
  return requestHead(`POST ${path}`, fields) + body;
}
