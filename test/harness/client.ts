/** The token of the project "default" of test servers. */
export const TOKEN = 'a-token-for-tests-0123456789abcdef';

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body; undefined: the body is empty or plain text. */
  json: any;
}

/** Fields of an answer that refuses a request with these errors. */
export const refusal = (status: number, ...errors: unknown[]) => ({ status, json: { errors } });

/** Sends requests with the token of one project. */
export class Client {
  constructor(
    readonly url: string,
    readonly token: string,
  ) {}

  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    return this.send(path, { method: 'POST', body: text as string, headers: { ...this.#headers(), ...headers } });
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Reply> {
    return this.send(path, { headers: { ...this.#headers(), ...headers } });
  }

  async send(path: string, init: RequestInit): Promise<Reply> {
    const response = await fetch(`${this.url}${path}`, init);
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      json:
        text === '' || init.method === 'HEAD' || response.headers.get('content-type')?.startsWith('text/') ? undefined : JSON.parse(text),
    };
  }

  #headers(): Record<string, string> {
    return { 'Content-Type': 'application/json', 'SERVICE-TEST-SUITE-TOKEN': this.token };
  }
}
