import type { Store } from '../../src/server/engine/ports/store.js';
import { createOperatorLink, createReaderLink } from '../../src/server/engine/sign-in/sign-in.js';
import { Client, type Reply } from './client.js';

/** Sends requests as a page of the dashboard in a browser does, with the cookies that it was given. */
export class Browser {
  readonly cookies = new Map<string, string>();
  readonly #client: Client;

  constructor(
    readonly url: string,
    /** Sent in addition, for example as a proxy would. */
    readonly headers: Record<string, string> = {},
  ) {
    this.#client = new Client(url, '');
  }

  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Reply> {
    return this.#send(path, { headers: { Cookie: this.cookie, ...this.headers, ...headers } });
  }

  post(path: string, message: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const page = { 'Content-Type': 'application/json', 'Ballast-Dashboard': '1', Origin: this.url, Cookie: this.cookie };
    const body = typeof message === 'string' ? message : JSON.stringify(message);
    return this.#send(path, { method: 'POST', body, headers: { ...page, ...this.headers, ...headers } });
  }

  signIn(link: string): Promise<Reply> {
    return this.post('/dashboard/sign_in', { link });
  }

  async #send(path: string, init: RequestInit): Promise<Reply> {
    const reply = await this.#client.send(path, init);
    for (const line of reply.headers.getSetCookie()) {
      const [name = '', value = ''] = line.split(';')[0]!.split('=');
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return reply;
  }
}

/** A browser in which an operator is signed in. */
export async function signedInOperator(url: string, { signIns }: Store, at = Date.now()): Promise<Browser> {
  return signedIn(url, (await createOperatorLink(signIns, at)).secret);
}

/** A browser in which a reader of a project is signed in. */
export async function signedInReader(url: string, { signIns }: Store, project: number, at = Date.now()): Promise<Browser> {
  return signedIn(url, (await createReaderLink(signIns, project, 30, at)).secret);
}

async function signedIn(url: string, secret: string): Promise<Browser> {
  const browser = new Browser(url);
  const { status, text } = await browser.signIn(secret);
  if (status !== 200) throw new Error(`not signed in: ${status} ${text}`);
  return browser;
}
