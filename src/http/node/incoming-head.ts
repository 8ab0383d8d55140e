import type { IncomingMessage } from 'node:http';
import type { ParsedHead } from '../head.js';

/** Gives access to a head that Node has parsed. */
export class IncomingHead implements ParsedHead {
  readonly #url: string;
  readonly #queryStart: number;

  constructor(readonly incoming: IncomingMessage) {
    // A client may send an absolute URL, as to a proxy.
    const url = (incoming.url ?? '/').replace(/^https?:\/\/[^/?]*/i, '');
    this.#url = url;
    this.#queryStart = url.indexOf('?');
  }

  getMethod(): string {
    return this.incoming.method ?? '';
  }

  getUrl(): string {
    return this.#queryStart < 0 ? this.#url : this.#url.slice(0, this.#queryStart);
  }

  getQuery(): string | undefined {
    return this.#queryStart < 0 ? undefined : this.#url.slice(this.#queryStart + 1);
  }

  forEach(callback: (name: string, value: string) => void): void {
    const { rawHeaders } = this.incoming;
    for (let i = 0; i < rawHeaders.length; i += 2) callback(rawHeaders[i]!.toLowerCase(), utf8(rawHeaders[i + 1]!));
  }
}

/** Node decodes header values as Latin-1; clients send UTF-8. */
function utf8(text: string): string {
  return /[\x80-\xff]/.test(text) ? Buffer.from(text, 'latin1').toString() : text;
}
