import type { Load } from './load.js';
import { ROUND, roundDigits } from './messages.js';

interface Prepared {
  bytes: Buffer;
  /** Where the number of the round stands. */
  places: number[];
}

type RequestsOfLoad = Pick<Load, 'url' | 'headers' | 'bodies' | 'paths'>;

/** The requests of one rotation as they are sent, with `ROUND` in them. The bodies of a load on redis: are whole requests. */
export function requestTexts({ url, headers, bodies, paths }: RequestsOfLoad): string[] {
  const { host, pathname, protocol } = new URL(url);
  if (protocol === 'redis:') return bodies;
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = (request: string) => `${request} HTTP/1.1\r\nHost: ${host}\r\n${fields.join('')}`;
  if (paths) return paths.map(path => `${head(`GET ${path}`)}\r\n`);
  const post = head(`POST ${pathname}`);
  return bodies.map(body => `${post}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

/** Requests as bytes, sent in rotation. Only the number of the round is written anew. */
export class PreparedRequests {
  readonly #requests: Prepared[];
  #round = -1;
  #digits = '';

  constructor(
    load: RequestsOfLoad,
    /** The number of the next request. */
    public next: number,
  ) {
    this.#requests = requestTexts(load).map(prepare);
  }

  /** The next request. Its bytes are valid until the call after the next rotation. */
  take(): Uint8Array {
    const round = Math.floor(this.next / this.#requests.length);
    const { bytes, places } = this.#requests[this.next++ % this.#requests.length]!;
    if (round !== this.#round) {
      this.#round = round;
      this.#digits = roundDigits(round);
    }
    for (const place of places) bytes.write(this.#digits, place, 'latin1');
    return bytes;
  }
}

function prepare(text: string): Prepared {
  const bytes = Buffer.from(text);
  const places: number[] = [];
  for (let at = bytes.indexOf(ROUND); at >= 0; at = bytes.indexOf(ROUND, at + ROUND.length)) places.push(at);
  return { bytes, places };
}
