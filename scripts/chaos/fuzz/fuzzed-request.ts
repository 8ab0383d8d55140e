import { headers } from '../../../test/testbed/client.js';
import { pick, type Random } from '../../../test/testbed/random.js';
import { HEAD_MUTATIONS, mutateBytes, mutateJson } from './mutations.js';
import { type Drawn, drawValidRequest } from './valid-request.js';

/** Probabilities that the JSON, the bytes and the head of a request are mutated. */
const MUTATED_JSON = 0.7;
const MUTATED_BYTES = 0.1;
const MUTATED_HEAD = 0.3;

export interface RawRequest {
  method: string;
  target: string;
  bytes: Buffer;
}

/** Mutates parts of a request, by default of a valid one, with the fields of its head. */
export function drawFuzzedRequest(
  random: Random,
  host: string,
  { path, body }: Drawn = drawValidRequest(random),
  fields = headers,
): RawRequest {
  let method = body ? 'POST' : 'GET';
  let target = path;
  const head = new Map<string, string>(Object.entries({ ...fields, Host: host }));
  let content: Buffer = body ? Buffer.from(JSON.stringify(random() < MUTATED_JSON ? mutateJson(random, body) : body)) : Buffer.alloc(0);
  if (content.length > 0 && random() < MUTATED_BYTES) content = mutateBytes(random, content);
  if (random() < MUTATED_HEAD) {
    pick(random, HEAD_MUTATIONS)(head, random);
    if (random() < 0.2) method = pick(random, ['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH']);
    if (random() < 0.2)
      target = mutateBytes(random, Buffer.from(path))
        .toString('latin1')
        .replace(/[^\x21-\x7e]/g, '%');
    if (!target.startsWith('/')) target = `/${target}`;
  }
  if (content.length > 0 || method !== 'GET') head.set('Content-Length', String(content.length));
  const lines = [`${method} ${target} HTTP/1.1`, ...[...head].map(([name, value]) => `${name}: ${value}`), '', ''];
  return { method, target, bytes: Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), content]) };
}
