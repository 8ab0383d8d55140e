import { endpoints } from '../../../src/server/api/table.js';
import { PUBLIC_TEST_FILES } from '../../../src/server/engine/public-side/allowance.js';
import { publicSideOf } from '../../../src/server/engine/public-side/side.js';
import { headers } from '../../../test/testbed/client.js';
import { pick, type Random } from '../../../test/testbed/random.js';
import { drawFuzzedRequest, type RawRequest } from '../fuzz/fuzzed-request.js';
import { type Drawn, drawValidRequest, FILES } from '../fuzz/valid-request.js';

/** What a stranger has found out of the project, and should not need. */
export interface Known {
  /** A public token of the project. */
  token: string;
  /** Ids of builds and CI runs. */
  ids: readonly string[];
  /** A tree that the project has shown to be green, and the digest of the list. */
  tree: string;
  digest: string;
}

const PAGES = [
  '/dashboard/projects',
  '/dashboard/access',
  '/dashboard/tokens',
  '/dashboard/projects/delete',
  '/dashboard/session',
  '/metrics',
];
/** The share of these requests that are a POST; others are a GET, until their head is mutated. */
const POSTS = 1 / 7;
/** More than a public token may list. */
const LARGE = PUBLIC_TEST_FILES + 5000;

/** Draws a request with a public token: one of a CI run, or one that asks for what is not open to it. Parts of it are mutated. */
export function drawHostileRequest(random: Random, host: string, known: Known): RawRequest {
  const isInBody = random() < 0.1;
  const drawn = random() < 0.5 ? drawValidRequest(random) : drawForbidden(random, known);
  const body = drawn.body && isInBody ? { ...drawn.body, test_suite_token: known.token } : drawn.body;
  const { 'KNAPSACK-PRO-TEST-SUITE-TOKEN': _, ...others } = headers;
  const token = drawn.body && isInBody ? {} : { 'KNAPSACK-PRO-TEST-SUITE-TOKEN': known.token };
  const page = random() < 0.1 ? { 'Ballast-Project': pick(random, ['1', '2', String(publicSideOf(1))]), 'Ballast-Dashboard': '1' } : {};
  const cookie = random() < 0.05 ? { Cookie: `ballast_session=${'0'.repeat(64)}` } : {};
  return drawFuzzedRequest(random, host, { ...drawn, body }, { ...others, ...token, ...page, ...cookie } as typeof headers);
}

function drawForbidden(random: Random, { ids, tree, digest }: Known): Drawn {
  const path = pick(random, [...endpoints, ...PAGES]).replace(':id', pick(random, ids));
  const names = { commit_hash: 'seed-0', branch: pick(random, ['main', 'next']), node_total: 2, node_index: 0 };
  const query = {
    ...Object.fromEntries(Object.entries(names).map(([name, value]) => [name, String(value)])),
    ...{ tree, test_files_digest: digest, max_age: '86400', proof_keys: '', ci_run: pick(random, ids), path: pick(random, FILES) },
    ...{ node_build_id: '1', limit: '100', nodes: '1..8' },
  };
  const some = Object.entries(query).filter(() => random() < 0.5);
  if (random() >= POSTS) return { path: `${path}?${new URLSearchParams(some).toString()}`, body: null };
  return { path, body: { ...names, ...Object.fromEntries(some), ...drawList(random) } };
}

/** A list of the files of the project, of many files, or of one that is deep. */
function drawList(random: Random): Record<string, unknown> {
  const kind = random();
  const paths = kind < 0.01 ? Array.from({ length: LARGE }, (_, i) => `${i}_spec.rb`) : FILES;
  if (kind > 0.99) return { test_files: JSON.parse('['.repeat(3000) + ']'.repeat(3000)) as unknown };
  const test_files = paths.map(path => ({ path, time_execution: 1000 * random() }));
  const cases = [{ name: 'a case', seconds: 1, outcome: pick(random, ['passed', 'failed']) }];
  const files = FILES.slice(0, 3).map(path => ({ path, seconds: 900, cases }));
  return { test_files, paths, files, runner: 'rspec', node_uuid: 'n1', test_queue_id: '1', ci_build_id: '1', cache_read_attempt: false };
}
