import { ROUND, roundDigits } from './messages.js';

/** A text that is encoded once and sent many times: `ROUND` in it is replaced in place. */
export class Template {
  readonly #bytes: Buffer;
  readonly #places: number[] = [];

  constructor(text: string) {
    this.#bytes = Buffer.from(text);
    for (let at = this.#bytes.indexOf(ROUND); at !== -1; at = this.#bytes.indexOf(ROUND, at + ROUND.length)) this.#places.push(at);
  }

  get bytes(): number {
    return this.#bytes.length;
  }

  /** The bytes of a round. They are valid until the next call. */
  body(round: number): Buffer {
    if (this.#places.length > 0) {
      const digits = roundDigits(round);
      for (const place of this.#places) this.#bytes.write(digits, place, 'latin1');
    }
    return this.#bytes;
  }
}
