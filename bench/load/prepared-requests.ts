import type { Load } from './load.js';
import { ROUND, roundDigits } from './messages.js';

interface Prepared {
  bytes: Buffer;
  /** Where the number of the round stands. */
  places: number[];
}

/** Requests as bytes, sent in rotation. Only the number of the round is written anew. */
export class PreparedRequests {
  readonly #requests: Prepared[];
  #round = -1;
  #digits = '';

  constructor(
    { url, headers, bodies, paths }: Pick<Load, 'url' | 'headers' | 'bodies' | 'paths'>,
    /** The number of the next request. */
    public next: number,
  ) {
    const { host, pathname, protocol } = new URL(url);
    const head = (request: string) =>
      `${request} HTTP/1.1\r\nHost: ${host}\r\n${Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('')}`;
    const post = (body: string) => `${head(`POST ${pathname}`)}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    const texts = paths ? paths.map(path => `${head(`GET ${path}`)}\r\n`) : protocol === 'redis:' ? bodies : bodies.map(post);
    this.#requests = texts.map(prepare);
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
