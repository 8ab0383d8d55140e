import { keyOf, packOf } from './packs.js';
import { loadScript } from './script.js';

/** The names of all packs. */
declare const PACKS: string[];

/** Answers by their keys. */
type Pack = Record<string, { status: number; answer: object }>;

const names = new Set(PACKS);
const packs = new Map<string, Promise<Pack>>();

/** Stands in for `fetch`: answers with what the server of the demo answered when it was recorded. */
export async function fetch(path: string, { method, headers, signal }: RequestInit): Promise<Response> {
  if (method === 'POST') return refusal(403, 'this demo is a recording, in which nothing can be changed');
  const { 'Ballast-Project': project = '', 'If-None-Match': known } = headers as Record<string, string>;
  // What was recorded does not change.
  if (known !== undefined) return new Response(null, { status: 304, headers: { ETag: known } });
  const key = keyOf(project, path);
  const recorded = (await packNamed(packOf(key)))[key];
  signal?.throwIfAborted();
  return recorded ? json(recorded.status, recorded.answer) : refusal(400, 'this demo is a recording, which has no answer to that');
}

function json(status: number, answer: object): Response {
  return new Response(JSON.stringify(answer), { status, headers: { 'Content-Type': 'application/json', ETag: 'recorded' } });
}

const refusal = (status: number, reason: string) => json(status, { errors: [reason] });

async function packNamed(name: string): Promise<Pack> {
  if (!names.has(name)) return {};
  const pack = packs.get(name) ?? loadScript(`../demo/answers/${name}.js`).then(text => unpacked(text as string));
  packs.set(name, pack);
  // The next page tries again.
  pack.catch(() => packs.delete(name));
  return pack;
}

/** @param text JSON, compressed by gzip, in Base64: a script is a text */
function unpacked(text: string): Promise<Pack> {
  const bytes = Uint8Array.from(atob(text), character => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).json() as Promise<Pack>;
}
