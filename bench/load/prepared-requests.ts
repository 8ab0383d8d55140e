import type { Load } from './load.js';
import { Template } from './template.js';

type RequestsOfLoad = Pick<Load, 'url' | 'headers' | 'bodies'>;

/** The requests of one rotation as they are sent, with `ROUND` in them. The bodies of a load on redis: are whole requests. */
export function requestTexts({ url, headers, bodies }: RequestsOfLoad): string[] {
  const { host, pathname, protocol } = new URL(url);
  if (protocol === 'redis:') return bodies;
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\n${fields.join('')}`;
  return bodies.map(body => `${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

/** Requests as bytes, sent in rotation. Only the number of the round is written anew. */
export class PreparedRequests {
  readonly #requests: Template[];

  constructor(
    load: RequestsOfLoad,
    /** The number of the next request. */
    public next: number,
  ) {
    this.#requests = requestTexts(load).map(text => new Template(text));
  }

  /** The next request. Its bytes are valid until the call after the next rotation. */
  take(): Uint8Array {
    const round = Math.floor(this.next / this.#requests.length);
    return this.#requests[this.next++ % this.#requests.length]!.body(round);
  }
}
