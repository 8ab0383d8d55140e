import type { Client } from '../harness/client.js';
import type { Clock } from '../harness/clock.js';
import type { SharedServer } from '../harness/server.js';
import { type Log, type Plan, playCiRun } from './ci-runs.js';
import { type Figures, recompute } from './recompute.js';

/** Files that take from 3 to 22 s, the first fifth of them longer than the others. */
export const suite = (count: number, name = 'file') => {
  const seconds = (i: number) => 3 + ((i * 7) % 10) + (i < count / 5 ? 10 : 0);
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`spec/${name}_${String(i).padStart(3, '0')}_spec.rb`, seconds(i)]));
};
export const nodes = (count: number, others: Readonly<Record<number, Plan['nodes'][number]>> = {}) =>
  Array.from({ length: count }, (_, node) => others[node] ?? {});
const files = suite(40);
const queue = { mode: 'queue', files, nodes: nodes(4) } as const;

export interface Situation extends Omit<Plan, 'commit_hash'> {
  /** True if the build is looked at as soon as everything stops. */
  isRunning?: true;
  /** Number of whole builds before it; default: 1. */
  before?: number;
  /** Seconds of each file in these builds (default: `files`). */
  known?: Plan['files'];
}

const first = { 1: { dies: 1 } };
const reports = { ...queue, mode: 'reports' } as const;
const split = { ...queue, mode: 'split' } as const;
const recordings = { ...queue, mode: 'recordings' } as const;

/** Situations of a build, by name. */
export const SITUATIONS = {
  'a whole build': { ...queue, before: 2 },
  'a first build': { ...queue, before: 0 },
  'a node that dies with its files': { ...queue, nodes: nodes(4, first) },
  'a node that dies while failures are reported': { ...reports, nodes: nodes(4, first) },
  'a node that restarts at once': { ...reports, nodes: nodes(4, { 1: { dies: 1, returns: 10 } }) },
  'a node that is retried after the others': { ...reports, nodes: nodes(4, { 1: { dies: 1, returns: 900 } }) },
  'a node that is retried and gets other files': { ...queue, nodes: nodes(4, { 1: { dies: 1, returns: 10 } }) },
  'a node that is retried and gets nothing': { ...queue, nodes: nodes(4, { 1: { dies: 1, returns: 900 } }) },
  'nodes that never come': { ...queue, nodes: nodes(4, { 2: { start: null }, 3: { start: null } }) },
  'a node that dies and one that never comes': { ...queue, nodes: nodes(4, { ...first, 3: { start: null } }) },
  'recordings only': recordings,
  'recordings of a part of the nodes': { ...recordings, nodes: nodes(4, { 3: { start: null } }) },
  'a build that runs': { ...queue, until: 60, isRunning: true },
  'a build that is cancelled': { ...queue, until: 20 },
  'one node that dies': { ...reports, nodes: nodes(1, { 0: { dies: 1 } }) },
  'a build that is cancelled when a node has ended': { ...queue, until: 100 },
  'one node': { ...queue, nodes: nodes(1) },
  'one file': { ...queue, files: suite(1), nodes: nodes(2) },
  '200 nodes': { ...queue, files: suite(200, 'small'), nodes: nodes(200, { 7: { dies: 0 } }) },
  'a late node': { ...queue, nodes: nodes(4, { 2: { start: 5 } }), files: suite(12) },
  'a slow node': { ...queue, nodes: nodes(4, { 3: { slow: 2 } }) },
  failures: { ...reports, fails: ['spec/file_003_spec.rb', 'spec/file_011_spec.rb'] },
  'no failure': reports,
  'a split': { ...split, nodes: nodes(4, { 2: { start: 5 } }) },
  'a split with a node that dies': { ...split, nodes: nodes(4, { 1: { dies: 0 } }) },
  'a long file': { ...queue, files: { ...files, 'spec/long_spec.rb': 150 } },
} satisfies Record<string, Situation>;

/** In seconds: no node may be at work any more. */
const LATER = 3600;

/** A server whose clock is moved. */
export interface Timed {
  server: Pick<SharedServer, 'summarize'>;
  clock: Clock;
}

/** Plays the builds of a situation. Returns their logs, the one of the situation last. */
export async function play(client: Client, { server, clock }: Timed, situation: Situation, commit_hash = 'now'): Promise<Log[]> {
  const { isRunning, before = 1, known = situation.files, ...plan } = situation;
  const logs: Log[] = [];
  for (let i = 0; i < before; i++) {
    const { mode, hidden } = plan;
    logs.push(
      await playCiRun(client, clock, {
        mode,
        files: known,
        ...(hidden !== undefined && { hidden }),
        nodes: nodes(Math.min(4, plan.nodes.length)),
        commit_hash: `${i} before ${commit_hash}`,
      }),
    );
    // The project learns from a build when its summary is written.
    await server.summarize();
    clock.advance({ seconds: 60 });
  }
  logs.push(await playCiRun(client, clock, { ...plan, commit_hash }));
  if (!isRunning) clock.advance({ seconds: LATER });
  await server.summarize();
  return logs;
}

/** An answer of the server about a build, and the figures that follow from its requests. */
export interface Compared {
  log: Log;
  id: string;
  minutes: any;
  row: any;
  figures: Figures;
}

/** @param now the time at which the last build is looked at, if it runs */
export async function compared(client: Client, logs: readonly Log[], now?: number): Promise<Compared[]> {
  const { builds } = (await client.get('/v1/build_summaries?limit=100')).json;
  return Promise.all(
    logs.map(async log => {
      const row = builds.find(({ commit_hash }: any) => commit_hash === log.commit_hash);
      const id = row.build_id ?? row.ci_run_id;
      const minutes = (await client.get(`/v1/builds/${id}/minutes`)).json;
      // No request tells what the planner expected at its last batch.
      const { batches = [] } = (await client.get(`/v1/builds/${id}/why`)).json;
      const expected = batches.findLast(({ decision }: any) => decision)?.decision ?? minutes.cost;
      return { log, id, minutes, row, figures: recompute(log, expected, log === logs.at(-1) ? now : undefined) };
    }),
  );
}
