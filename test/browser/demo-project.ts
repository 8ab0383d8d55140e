import { Calendar } from '../../scripts/demo/calendar.js';
import { playPast } from '../../scripts/demo/past.js';
import { projects } from '../../scripts/demo/projects.js';
import { Summaries } from '../../scripts/demo/summaries.js';
import { reads } from '../../src/server/api/reads.js';
import { createProject } from '../../src/server/engine/access.js';
import type { Build } from '../../src/server/engine/ports/builds.js';
import { Client } from '../harness/client.js';
import { SharedServer } from '../harness/server.js';
import type { Served } from './operator.js';

const DAY = 86_400_000;
/** A Thursday afternoon, as at night and on Mondays few builds are recent. */
const NOW = Date.UTC(2026, 0, 15, 14, 24);

/** A project of its own, with a client of its API. */
export interface BrowsedProject {
  id: number;
  name: string;
  client: Client;
}

/** A server whose clock stands still, so that the builds of the demo are the same whenever the tests run. */
export const demoServer = () => Object.assign(new SharedServer({}, { now: () => NOW }), { now: NOW });

let made = 0;

/** Creates a project without builds. */
export async function emptyProject({ url, store }: Served, called = `project-${++made}`): Promise<BrowsedProject> {
  const { id, name, token } = await createProject(store.access, called, Date.now());
  return { id, name, client: new Client(url, token) };
}

/**
 * Creates a project with the end-to-end builds of the demo in the last days before the time of its server. One is running.
 *
 * @param isExact see Past
 */
export async function demoProject(
  server: Served,
  { days = 2, isExact = false, called = undefined as string | undefined } = {},
): Promise<BrowsedProject> {
  const project = await emptyProject(server, called);
  const kind = projects.find(({ mode, nodes }) => mode === 'queue' && nodes === 8)!;
  const calendar = new Calendar(kind, 1, NOW, days);
  const { store } = server;
  const summaryOf = (build: Build, at: number) => reads.buildSummary(store, { build, at });
  const summaries = new Summaries(store, summaryOf, calendar.now);
  await playPast({ store, project: project.id, pullCost: 20_000, clock: { millis: 0 }, summaries, isExact }, calendar);
  await summaries.end();
  return project;
}

/** A build that has ended: the newest of the main branch. */
export async function endedBuild({ client }: BrowsedProject): Promise<string> {
  const { json } = await client.get('/v1/builds?branch=main');
  const ended = (json.data as { id: string; created_at: string }[]).find(({ created_at }) => Date.parse(created_at) < NOW - DAY / 24);
  return ended!.id;
}
