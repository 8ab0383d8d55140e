import { createHash } from 'node:crypto';
import { keyOf } from '../../src/dashboard/site/packs.js';
import type { Demo } from '../demo/open-demo.js';

/** Ids of builds and of CI runs that an answer names: links may lead to them. */
const IDS = /"(?:build_id|ci_run_id)":"([^"]+)"/g;

/** A CI run with the name that its CI system gave it. */
const CI_RUN = /"ci_run_id":"([^"]+)","ci_run":"([^"]+)"/g;

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** The address of the server in what is recorded: the commands of the set-up page have it. */
const SERVER = 'https://ballast.example.com';

/** An answer of a server below /v1 or /dashboard. */
export interface Recorded {
  status: number;
  answer: object;
}

/** Asks the server of a demo as its pages do, and keeps what it answers. */
export class Recorder {
  /** By their keys, see keyOf. */
  readonly #answers = new Map<string, Promise<Recorded>>();
  readonly #ids = new Map<string, string>();
  readonly #url: string;
  readonly #cookie: string;

  private constructor(url: string, cookie: string) {
    this.#url = url;
    this.#cookie = cookie;
  }

  /** Signs in to a demo. */
  static async signedIn({ url, link }: Pick<Demo, 'url' | 'link'>): Promise<Recorder> {
    const response = await fetch(`${url}/dashboard/sign_in`, {
      method: 'POST',
      headers: { Origin: url, 'Ballast-Dashboard': '1', 'Content-Type': 'application/json' },
      body: JSON.stringify({ link: new URL(link).hash.slice(1) }),
    });
    const cookie = response.headers.get('set-cookie')?.split(';')[0];
    if (!response.ok || !cookie) throw new Error(`cannot sign in to the demo: it answered ${response.status} ${await response.text()}`);
    return new Recorder(url, cookie);
  }

  /** Asks once for a path of the dashboard, or of the API about a project. Null: the server refused. */
  async ask<T extends object>(path: string, project: number | null = null): Promise<T | null> {
    const key = keyOf(String(project ?? ''), path);
    const recorded = this.#answers.get(key) ?? this.#get(path, project);
    this.#answers.set(key, recorded);
    const { status, answer } = await recorded;
    return status === 200 ? (answer as T) : null;
  }

  /** Has a build or a CI run the id that its name gives in every recording, in the place of the random one that the server drew. */
  rename(id: string, name: readonly unknown[]): void {
    const digest = createHash('sha256').update(JSON.stringify(name)).digest('hex');
    this.#ids.set(id, digest.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5'));
  }

  /** All answers by their keys, in the order of these. */
  async recorded(): Promise<[key: string, recorded: Recorded][]> {
    const renamed = (text: string) => text.replace(UUID, id => this.#ids.get(id) ?? id).replaceAll(this.#url, SERVER);
    const all = await Promise.all([...this.#answers].map(async ([key, recorded]) => [key, await recorded] as const));
    for (const [key, { answer }] of all)
      for (const [, id, ciRun] of JSON.stringify(answer).matchAll(CI_RUN)) this.rename(id!, [key.split(' ')[0], ciRun]);
    return all
      .map(([key, recorded]): [string, Recorded] => [renamed(key), JSON.parse(renamed(JSON.stringify(recorded))) as Recorded])
      .sort(([a], [b]) => (a < b ? -1 : 1));
  }

  async #get(path: string, project: number | null): Promise<Recorded> {
    const headers = { Cookie: this.#cookie, ...(project !== null && { 'Ballast-Project': String(project) }) };
    const response = await fetch(this.#url + path, { headers });
    const text = await response.text();
    if (response.status >= 500) throw new Error(`cannot record ${path}: the demo answered ${response.status} ${text}`);
    return { status: response.status, answer: JSON.parse(text) as object };
  }
}

/** The ids of builds and of CI runs in an answer. */
export function idsIn(answer: object): string[] {
  return [...JSON.stringify(answer).matchAll(IDS)].map(([, id]) => id!);
}
