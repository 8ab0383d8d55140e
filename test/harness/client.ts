import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

/** The token of the project "default" of test servers. */
export const TOKEN = 'a-token-for-tests-0123456789abcdef';

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body; undefined: the body is empty or plain text. */
  json: any;
}

export interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = { br: brotliDecompressSync, gzip: gunzipSync };

/** What an answer has that refuses a request with these errors. */
export const refusal = (status: number, ...errors: unknown[]) => ({ status, json: { errors } });

/** Sends requests with the token of one project. */
export class Client {
  constructor(
    readonly url: string,
    readonly token: string,
  ) {}

  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const sent = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    return this.send(path, { method: 'POST', body: sent, headers: { ...this.#headers(), ...headers } });
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Reply> {
    return this.send(path, { headers: { ...this.#headers(), ...headers } });
  }

  /** Tests send thousands of requests, for which `fetch` takes twice as long. */
  async send(path: string, { method = 'GET', headers = {}, body = '' }: Sent): Promise<Reply> {
    const length = method === 'GET' || method === 'HEAD' ? {} : { 'Content-Length': Buffer.byteLength(body) };
    const sending = request(`${this.url}${path}`, { method, headers: { ...headers, ...length } });
    sending.end(body);
    const [response] = (await once(sending, 'response')) as [IncomingMessage];
    const bytes = await buffer(response);
    const decode = bytes.length > 0 && decoders[response.headers['content-encoding'] ?? ''];
    const text = (decode ? decode(bytes) : bytes).toString();
    const isPlain = text === '' || response.headers['content-type']?.startsWith('text/');
    const received = Object.entries(response.headersDistinct);
    return {
      status: response.statusCode!,
      headers: new Headers(received.flatMap(([name, values = []]) => values.map((value): [string, string] => [name, value]))),
      text,
      json: isPlain ? undefined : JSON.parse(text),
    };
  }

  #headers(): Record<string, string> {
    return { 'Content-Type': 'application/json', 'SERVICE-TEST-SUITE-TOKEN': this.token };
  }
}
