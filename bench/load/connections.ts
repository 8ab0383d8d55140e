import { Agent, request } from 'node:http';
import { headers } from './server.js';

export interface Answer {
  status: number;
  text: string;
  /** From the call, so waiting for a connection included, to the end of the answer. */
  milliseconds: number;
}

/** So many kept connections to a server: cheap, because on few cores the client takes its time from the server. */
export class Connections {
  readonly #agent: Agent;

  constructor(
    readonly url: string,
    count: number,
  ) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: count, scheduling: 'fifo' });
  }

  post(path: string, body: string | Buffer): Promise<Answer> {
    const from = performance.now();
    return new Promise((resolve, reject) => {
      const options = { method: 'POST', agent: this.#agent, headers: { ...headers, 'Content-Length': Buffer.byteLength(body) } };
      const sent = request(this.url + path, options, response => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.once('error', reject);
        response.once('end', () => resolve({ status: response.statusCode!, text, milliseconds: performance.now() - from }));
      });
      sent.once('error', reject);
      sent.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Throws a sentence when the answer is not the one that was asked for. */
export function check({ status, text }: Answer, expectedStatus: number, expected = ''): void {
  if (status === expectedStatus && text.includes(expected)) return;
  throw new Error(`a request was answered with ${status} and not as expected: ${text.slice(0, 300)}`);
}
