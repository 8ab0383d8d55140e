import { Agent, request } from 'node:http';
import { headers as ofClient } from '../../test/testbed/client.js';

export interface Answer {
  status: number;
  text: string;
  /** From the call, including the wait for a connection, to the end of the answer. */
  milliseconds: number;
}

/** Persistent connections to a server. This client is cheap, because it competes with the server for few cores. */
export class Connections {
  readonly #agent: Agent;

  constructor(
    readonly url: string,
    count: number,
    readonly headers: Record<string, string> = {},
  ) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: count, scheduling: 'fifo' });
  }

  post(path: string, body: string | Buffer): Promise<Answer> {
    const from = performance.now();
    return new Promise((resolve, reject) => {
      const options = {
        method: 'POST',
        agent: this.#agent,
        headers: { ...ofClient, ...this.headers, 'Content-Length': Buffer.byteLength(body) },
      };
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

/** Throws if the answer has another status, or does not contain the expected text. */
export function expectAnswer({ status, text }: Answer, expectedStatus: number, expected = ''): void {
  if (status === expectedStatus && text.includes(expected)) return;
  throw new Error(
    `a request was answered with ${status} instead of ${expectedStatus}, or without ${JSON.stringify(expected)}: ${text.slice(0, 300)}`,
  );
}
