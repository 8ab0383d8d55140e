import type { headers } from '../../../test/testbed/client.js';
import { pick, type Random } from '../../../test/testbed/random.js';

/** Values that replace valid ones. */
const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  1,
  -1,
  2,
  7.5,
  1e308,
  -1e308,
  5e-324,
  2 ** 31,
  2 ** 53,
  2 ** 53 + 2,
  10_000,
  10_001,
  '',
  ' ',
  '0',
  '1',
  '-1',
  '1e3',
  ' 2 ',
  'true',
  'false',
  'null',
  'main',
  'a_spec.rb',
  '\u0000',
  '\ud800',
  '\udfff\ud800',
  '漢字',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'x'.repeat(4096),
  'x'.repeat(4097),
  [],
  {},
  [[]],
  [{}],
  [null],
  { path: 'a_spec.rb' },
  [{ path: 'a_spec.rb', time_execution: 1 }],
  [{ path: 'ab' }],
  { toString: 1 },
];

/** Mutates one place in a JSON value, at any depth. */
export function mutateJson(random: Random, value: unknown): unknown {
  if (Array.isArray(value) && value.length > 0 && random() < 0.7) {
    const at = Math.floor(random() * value.length);
    if (random() < 0.2) return [...value, ...value];
    return value.map((inner: unknown, i) => (i === at ? mutateJson(random, inner) : inner));
  }
  if (typeof value === 'object' && value !== null && Object.keys(value).length > 0 && random() < 0.9) {
    const name = pick(random, Object.keys(value));
    const { [name]: inner, ...rest } = value as Record<string, unknown>;
    const kind = random();
    if (kind < 0.2) return rest;
    if (kind < 0.3) return { ...rest, [pick(random, ['__proto__', 'x', name.toUpperCase()])]: inner };
    return { ...value, [name]: mutateJson(random, inner) };
  }
  return pick(random, VALUES);
}

/** Removes, repeats or overwrites some bytes. */
export function mutateBytes(random: Random, bytes: Buffer): Buffer {
  if (bytes.length === 0) return Buffer.from([Math.floor(256 * random())]);
  const [from, to] = [Math.floor(random() * bytes.length), Math.floor(random() * bytes.length)].sort((a, b) => a - b) as [number, number];
  const kind = random();
  if (kind < 0.3) return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
  if (kind < 0.5) return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)]);
  const changed = Buffer.from(bytes);
  for (let i = 0; i <= 4 * random(); i++) changed[Math.floor(random() * changed.length)] = Math.floor(256 * random());
  return changed;
}

const TOKEN_HEADER = 'KNAPSACK-PRO-TEST-SUITE-TOKEN' satisfies keyof typeof headers;

/** Mutations of a request's head. They leave it parseable. */
export const HEAD_MUTATIONS: readonly ((head: Map<string, string>, random: Random) => void)[] = [
  head => void head.delete(TOKEN_HEADER),
  head => void head.set(TOKEN_HEADER, 'x'.repeat(64)),
  (head, random) =>
    void head.set(
      TOKEN_HEADER,
      mutateBytes(random, Buffer.from(head.get(TOKEN_HEADER) ?? ''))
        .toString('latin1')
        .replace(/[^\x21-\x7e]/g, '?'),
    ),
  (head, random) => void head.set('X-Retry-Count', pick(random, ['1', '0', '-1', '1e9', 'x', ''])),
  (head, random) =>
    void head.set('Content-Type', pick(random, ['text/plain', 'text/html', 'multipart/form-data', '', 'application/json; charset=latin1'])),
  (head, random) => void head.set('X-Request-Id', pick(random, ['x', 'y'.repeat(500), '"'])),
  (head, random) => void head.set('Expect', pick(random, ['100-continue', 'x'])),
  (head, random) => void head.set(pick(random, ['Accept', 'Cookie', 'Range', 'Upgrade', 'Accept-Encoding']), 'x'),
  head => void head.set('Connection', 'close'),
];
