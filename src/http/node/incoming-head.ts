import type { IncomingMessage } from 'node:http';
import type { ParsedHead } from '../head.js';

/** The head of a request that Node has parsed. */
export class IncomingHead implements ParsedHead {
  readonly #url: string;
  readonly #queryAt: number;

  constructor(readonly incoming: IncomingMessage) {
    // A client may send an absolute URL, as it would to a proxy.
    const url = (incoming.url ?? '/').replace(/^https?:\/\/[^/?]*/i, '');
    this.#url = url;
    this.#queryAt = url.indexOf('?');
  }

  getMethod(): string {
    return this.incoming.method ?? '';
  }

  getUrl(): string {
    return this.#queryAt < 0 ? this.#url : this.#url.slice(0, this.#queryAt);
  }

  getQuery(): string | undefined {
    return this.#queryAt < 0 ? undefined : this.#url.slice(this.#queryAt + 1);
  }

  forEach(each: (name: string, value: string) => void): void {
    const { rawHeaders } = this.incoming;
    for (let i = 0; i < rawHeaders.length; i += 2) each(rawHeaders[i]!.toLowerCase(), utf8(rawHeaders[i + 1]!));
  }
}

/** Node decodes header values as Latin-1; clients send UTF-8. */
function utf8(text: string): string {
  return /[\x80-\xff]/.test(text) ? Buffer.from(text, 'latin1').toString() : text;
}
