import type { Reply } from '../harness/client.js';
import { Client } from '../harness/client.js';
import { SPLIT } from '../testbed/node-process.js';
import { type Past, SUITE } from './past.js';
import type { Served } from './served.js';

/** What a server answered to a question: its status, and the parsed body or the text. */
export type Answered = [question: string, status: number, body: unknown];

/** What is asked of each build; and of some, what is computed of the same records. */
const PARTS = ['minutes', 'timeline', 'forecast', 'receipt'];
const DERIVED = ['why', 'comparison', 'trace', 'trace?format=otlp', 'what_if?nodes=2,4'];
const DERIVED_BUILDS = 5;

/** Asks a server for all that it has of a past: first what changes nothing. */
export async function answersOf({ client }: Pick<Served, 'client'>, past: Past): Promise<Answered[]> {
  const answers: Answered[] = [];
  const note = (question: string, { status, json, text }: Reply) => {
    answers.push([question, status, json ?? text]);
    return json;
  };
  const get = async (path: string) => note(`GET ${path}`, await client.get(path));
  // Before a token is used, which the pages show.
  await askPages(client, past, note);
  const { data } = await get('/v1/builds');
  for (const [i, { id, commit_hash, branch, node_total }] of data.entries()) {
    const { ci_runs } = await get(`/v1/builds/${id}`);
    for (const part of i < DERIVED_BUILDS ? [...PARTS, ...DERIVED] : PARTS) await get(`/v1/builds/${id}/${part}`);
    for (const { ci_run } of ci_runs.slice(1)) await get(`/v1/builds/${id}/minutes?ci_run=${ci_run}`);
    await get(`/v1/builds/completeness?${new URLSearchParams({ commit_hash, branch, node_total: String(node_total) })}`);
  }
  const trends = ['build_summaries', 'trends/builds?days=30', 'trends/files', 'trends/nodes', 'trends/node_counts', 'flaky', 'metrics'];
  for (const path of trends) await get(`/v1/${path}`);
  for (const path of SUITE.slice(0, 4)) await get(`/v1/trends/files/history?${new URLSearchParams({ path })}`);
  for (const proof of past.proofs) await get(`/v1/proofs?${proof}`);
  for (const path of ['receipt_keys', 'build_distributions/last?commit_hash=c15&branch=main&node_total=3&node_index=0'])
    await get(`/v1/${path}`);
  await get('/v2/test_paths?branch=main');
  const plan = { branch: 'main', nodes: '2,4', mode: 'queue' };
  note('POST /v1/plan', await client.post('/v1/plan', plan));
  for (const [name, token] of Object.entries(past.tokens))
    note(`GET /v1/builds of ${name}`, await new Client(client.url, token).get('/v1/builds'));
  for (const [commit_hash, ci_build_id, fixed] of [
    ['c01', '101', true],
    ['c02', '102', false],
    ['o00', '800', true],
  ] as const)
    for (const node_index of [0, 1]) {
      const node = { commit_hash, branch: 'main', node_total: 2, node_index };
      const message = { ...node, ci_build_id, fixed_test_suite_split: fixed, cache_read_attempt: true };
      note(`POST ${SPLIT} of ${commit_hash}, node ${node_index}`, await client.post(SPLIT, message));
    }
  await signIn(client, past, note);
  return answers;
}

type Note = (question: string, reply: Reply) => void;

async function askPages(client: Client, { cookies }: Past, note: Note): Promise<void> {
  for (const [role, Cookie] of Object.entries(cookies))
    for (const path of ['session', 'projects', 'access', 'projects/settings?project=1']) {
      const reply = await new Client(client.url, '').get(`/dashboard/${path}`, { Cookie });
      // These change with each version and port.
      for (const name of ['version', 'url']) delete reply.json[name];
      note(`GET /dashboard/${path} of the ${role}`, reply);
    }
}

async function signIn(client: Client, { link, password }: Past, note: Note): Promise<void> {
  const page = { 'Content-Type': 'application/json', 'Ballast-Dashboard': '1', Origin: client.url };
  for (const [name, message] of Object.entries({ link: { link }, password: { password } })) {
    const init = { method: 'POST', body: JSON.stringify(message), headers: page };
    note(`POST /dashboard/sign_in with the ${name}`, await client.send('/dashboard/sign_in', init));
  }
}
