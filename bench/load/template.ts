import { ROUND, roundDigits } from './messages.js';

/** A body that is built once and sent many times: `ROUND` is replaced in place. */
export class Template {
  readonly #body: Buffer;
  readonly #offsets: number[] = [];

  constructor(message: object) {
    this.#body = Buffer.from(JSON.stringify(message));
    for (let at = this.#body.indexOf(ROUND); at !== -1; at = this.#body.indexOf(ROUND, at + ROUND.length)) {
      this.#offsets.push(at);
    }
  }

  get bytes(): number {
    return this.#body.length;
  }

  /** The body of a round. It is valid until the next call. */
  body(round: number): Buffer {
    for (const offset of this.#offsets) this.#body.write(roundDigits(round), offset, 'latin1');
    return this.#body;
  }
}
