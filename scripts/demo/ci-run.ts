import type { BuildKey } from '../../src/server/engine/keys.js';
import { normal, pick, type Random } from '../../test/testbed/random.js';
import type { Push } from './commits.js';
import type { Project } from './projects.js';
import { exists, type SuiteFile, secondsOf } from './suite.js';

/** Why a CI run is not like the others. */
export type Incident = 'late node' | 'dying node' | 'dead node' | 'slow start' | 'broken node';

/** Why a file fails. A flaky one passes when it runs again. */
export type Reason = 'flaky' | 'broken' | 'muted';

/** One CI run, with all that is decided before it begins. */
export interface CiRun {
  project: Project;
  build: BuildKey;
  /** The id that its CI system gave it. */
  id: string;
  /** As clients name them. */
  people: { build_author: string; user_seat: string };
  /** When it began, in milliseconds since 1970. */
  at: number;
  /** In the order in which clients list them. */
  paths: string[];
  /** Seconds that each file takes on a usual node. */
  seconds: ReadonlyMap<string, number>;
  failing: ReadonlyMap<string, Reason>;
  /** Of the long files: what each case takes. */
  cases: ReadonlyMap<string, readonly CaseTime[]>;
  /** The test runner with which the clients run pieces of files; null: they run whole files. */
  runner: string | null;
  /** Its clients retry files that failed, and the CI run is green if they pass. */
  retries: boolean;
  nodes: NodePlan[];
}

export interface CaseTime {
  name: string;
  seconds: number;
}

export interface NodePlan {
  node_index: number;
  /** When its first process begins. */
  at: number;
  /** Its durations relative to those of a usual node. */
  slowness: number;
  /** The number of batches after which its process dies in the next one, and the seconds until another process replaces it; null: never. */
  death: { batches: number; restart: number | null } | null;
  /** So many of its files, from the first one, fail because of the node. */
  broken: number;
}

const BROKEN_PUSHES = 0.09;
const INCIDENTS: [Incident, number][] = [
  ['late node', 0.07],
  ['slow start', 0.03],
  ['dying node', 0.02],
];
/** Time that a long file takes besides its cases, as a part of all. */
const OWN_PART = 0.03;
/** More than the server takes for flaky files that fail together by chance. */
const BROKEN_FILES = 6;
const DAY = 86_400_000;

export interface Draft {
  project: Project;
  suite: readonly SuiteFile[];
  push: Push;
  id: string;
  at: number;
  /** When the demo begins: the histories of files count from there. */
  now: number;
  /** Number of days before that. */
  days: number;
  /** Null: by chance. */
  incident: Incident | null;
  /** The CI run that is repeated: it has the same files, and what is broken is broken again. Null: the commit did not run before. */
  before: CiRun | null;
}

export function drawCiRun(random: Random, draft: Draft): CiRun {
  const { project, suite, push, id, at, now, incident, before } = draft;
  const { author, commit_hash, branch } = push;
  const daysAgo = (now - at) / DAY;
  const files = suite.filter(file => (before ? before.seconds.has(file.path) : exists(file, daysAgo)));
  const machines = Math.exp(0.03 * normal(random));
  const seconds = new Map(files.map(file => [file.path, machines * secondsOf(file, daysAgo) * Math.exp(file.noise * normal(random))]));
  const failing = drawFailing(random, files, draft, daysAgo);
  const cases = new Map(files.filter(file => file.cases.length > 0).map(file => [file.path, timesOf(file, seconds.get(file.path)!)]));
  return {
    project,
    build: { commit_hash, branch, node_total: project.nodes },
    id,
    at,
    people: { build_author: author, user_seat: author },
    paths: files.map(({ path }) => path),
    seconds,
    failing,
    cases,
    runner: project.pieces && daysAgo <= project.pieces.daysAgo ? project.pieces.runner : null,
    retries: project.retries !== null && daysAgo <= project.retries.daysAgo,
    nodes: drawNodes(random, project, at, daysAgo, incident ?? drawIncident(random)),
  };
}

/** Reports whether the jobs of a CI run fail. That a node dies is another matter. */
export function isRed({ failing, retries, nodes }: CiRun): boolean {
  const reasons = new Set(failing.values());
  return reasons.has('broken') || (reasons.has('flaky') && !retries) || nodes.some(({ broken }) => broken > 0);
}

/** The files that fail. */
function drawFailing(random: Random, files: readonly SuiteFile[], { push, days, before }: Draft, daysAgo: number): Map<string, Reason> {
  const failing = new Map<string, Reason>();
  for (const { path, flakiness, flakyPart } of files)
    if (random() < flakiness && 1 - daysAgo / days < flakyPart) failing.set(path, 'flaky');
  const isMain = push.branch === 'main';
  const broken = !isMain && random() < BROKEN_PUSHES && !before ? 1 + Math.floor(3 * random()) : 0;
  for (let i = 0; i < broken; i++) failing.set(pick(random, files).path, 'broken');
  for (const [path, reason] of before?.failing ?? []) if (reason === 'broken') failing.set(path, reason);
  for (const { path, broken } of files)
    if (isMain && broken && broken.daysAgo >= daysAgo) failing.set(path, broken.mutedDaysAgo >= daysAgo ? 'muted' : 'broken');
  // Which piece of a file would fail is not played.
  for (const { path, cases } of files) if (cases.length > 0) failing.delete(path);
  return failing;
}

function timesOf({ cases }: SuiteFile, seconds: number): CaseTime[] {
  const parts = cases.reduce((sum, { part }) => sum + part, 0);
  return cases.map(({ name, part }) => ({ name, seconds: ((1 - OWN_PART) * seconds * part) / parts }));
}

function drawIncident(random: Random): Incident | null {
  let drawn = random();
  return INCIDENTS.find(([, probability]) => (drawn -= probability) < 0)?.[0] ?? null;
}

function drawNodes(random: Random, project: Project, at: number, daysAgo: number, incident: Incident | null): NodePlan[] {
  const { nodes, queueing, startSpread, slowNode, mode } = project;
  const chosen = Math.floor(nodes * random());
  return Array.from({ length: nodes }, (_, node_index) => {
    const isChosen = node_index === chosen;
    let delay = queueing + startSpread * Math.exp(0.8 * normal(random));
    if (incident === 'late node' && isChosen) delay += startSpread * (10 + 12 * random());
    if (incident === 'slow start' && node_index >= nodes / 2) delay += startSpread * (5 + 5 * random());
    let slowness = Math.exp(0.035 * normal(random));
    if (slowNode?.node_index === node_index && slowNode.daysAgo >= daysAgo && random() < 0.9)
      slowness *= slowNode.slowness * Math.exp(0.05 * normal(random));
    const dies = isChosen && (incident === 'dying node' || incident === 'dead node');
    const batches = incident === 'dead node' && mode === 'queue' ? 1 : 0;
    const broken = incident === 'broken node' && isChosen ? BROKEN_FILES : 0;
    const restart = incident === 'dead node' ? null : 100 + 60 * random();
    return { node_index, at: at + Math.round(1000 * delay), slowness, death: dies ? { batches, restart } : null, broken };
  });
}
