import type { BuildKey } from '../../src/server/engine/keys.js';
import { normal, pick, type Random } from '../../test/testbed/random.js';
import type { Push } from './commits.js';
import type { Project } from './projects.js';
import { exists, type SuiteFile, secondsOf } from './suite.js';

/** Why a CI run is not like the others. */
export type Incident = 'late node' | 'dying node' | 'dead node' | 'slow start';

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
  failing: ReadonlySet<string>;
  /** Of the long files: what each case takes. */
  cases: ReadonlyMap<string, readonly CaseTime[]>;
  /** The test runner with which the clients run pieces of files; null: they run whole files. */
  runner: string | null;
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
}

const BROKEN_PUSHES = 0.09;
const INCIDENTS: [Incident, number][] = [
  ['late node', 0.07],
  ['slow start', 0.03],
  ['dying node', 0.02],
];
/** Time that a long file takes besides its cases, as a part of all. */
const OWN_PART = 0.03;
const DAY = 86_400_000;

export interface Draft {
  project: Project;
  suite: readonly SuiteFile[];
  push: Push;
  id: string;
  at: number;
  /** When the demo begins: the histories of files count from there. */
  now: number;
  /** Null: by chance. */
  incident: Incident | null;
  /** The same commit ran before, so what is broken is broken again. */
  failedBefore: ReadonlySet<string> | null;
}

export function drawCiRun(random: Random, { project, suite, push, id, at, now, incident, failedBefore }: Draft): CiRun {
  const { author, commit_hash, branch } = push;
  const daysAgo = (now - at) / DAY;
  const files = suite.filter(file => exists(file, daysAgo));
  const machines = Math.exp(0.03 * normal(random));
  const seconds = new Map(files.map(file => [file.path, machines * secondsOf(file, daysAgo) * Math.exp(file.noise * normal(random))]));
  const flaky = files.filter(({ flakiness }) => random() < flakiness).map(({ path }) => path);
  const isBroken = branch !== 'main' && random() < BROKEN_PUSHES;
  const broken = failedBefore ?? (isBroken ? Array.from({ length: 1 + Math.floor(3 * random()) }, () => pick(random, files).path) : []);
  const cases = new Map(files.filter(file => file.cases.length > 0).map(file => [file.path, timesOf(file, seconds.get(file.path)!)]));
  return {
    project,
    build: { commit_hash, branch, node_total: project.nodes },
    id,
    at,
    people: { build_author: author, user_seat: author },
    paths: files.map(({ path }) => path),
    seconds,
    // Which piece of a file would fail is not played.
    failing: new Set([...flaky, ...broken].filter(path => !cases.has(path))),
    cases,
    runner: project.pieces && daysAgo <= project.pieces.daysAgo ? project.pieces.runner : null,
    nodes: drawNodes(random, project, at, daysAgo, incident ?? drawIncident(random)),
  };
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
    const restart = incident === 'dead node' ? null : 100 + 60 * random();
    return { node_index, at: at + Math.round(1000 * delay), slowness, death: dies ? { batches, restart } : null };
  });
}
