import { packageFolder } from '../../src/base/version.js';
import { JobRunner } from '../../src/server/api/job-runner.js';
import { changeSettings, createProject } from '../../src/server/engine/access.js';
import type { Build } from '../../src/server/engine/ports/builds.js';
import { createOperatorLink } from '../../src/server/engine/sign-in/sign-in.js';
import { toWeight } from '../../src/server/planning/weight.js';
import { signInUrl } from '../../src/server/process/dashboard.js';
import { openLog } from '../../src/server/process/log.js';
import { openService } from '../../src/server/process/service.js';
import { parseConfig } from '../../src/server/process/settings.js';
import type { WorkerSetup } from '../../src/server/process/worker.js';
import { serveFolder } from '../../src/server/store/lmdb/folder/serve-folder.js';
import { startThreads } from '../../src/server/threads/threads.js';
import { Calendar } from './calendar.js';
import { type LiveProject, playLive } from './live.js';
import { playPast } from './past.js';
import { projects } from './projects.js';
import { Summaries } from './summaries.js';
import { Turns } from './turns.js';

/** Settings of each project of the demo by its operators. */
const SETTINGS = { price: '0.008 USD', setup: '40s', billing_step: '60s', target: '10m' };

export interface DemoOptions {
  /** An empty folder. */
  dataDir: string;
  port: number;
  seed: number;
  /** Number of days before `now` at which the builds begin. */
  days: number;
  now: number;
  /** The clock of the server; undefined: the real one. */
  clock?: () => number;
  /** See Past. */
  isExact?: boolean;
  /** Called while the builds are made, with the part of them that is. It may throw to end the demo. */
  progressed?: (part: number) => void;
}

export interface Demo {
  url: string;
  /** The address that signs in to the dashboard, once. */
  link: string;
  projects: { name: string; token: string }[];
  /** Number of CI runs. */
  ciRuns: number;
  /** Plays the CI runs that are running, and a new one a minute, until the signal aborts. `failed`: see playLive. */
  play(signal: AbortSignal, failed: (error: Error) => void): Promise<void>;
  close(): Promise<void>;
}

const DAY = 86_400_000;

/** Makes the builds in a folder, then serves it. */
export async function openDemo({
  dataDir,
  port,
  seed,
  days,
  now,
  clock,
  isExact = false,
  progressed = () => {},
}: DemoOptions): Promise<Demo> {
  const config = parseConfig({ port: String(port), dataDir, logLevel: 'error', leaseFactor: '3', leaseGraceSeconds: '60' });
  const log = openLog(config.logLevel);
  const { live, secret } = await makeBuilds(config, log, { seed, days, now, linkedAt: clock ?? Date.now, isExact, progressed });
  const service = await openService(config, log, clock && { now: clock });
  return {
    url: service.url,
    link: signInUrl(service.url, secret),
    projects: live.map(({ token, calendar }) => ({ name: calendar.project.name, token })),
    ciRuns: live.reduce((sum, { ciRuns }) => sum + ciRuns, 0),
    play: (signal, failed) => playLive(service.url, live, signal, failed),
    close: () => service.close(),
  };
}

type Config = ReturnType<typeof parseConfig>;

/** The projects are played at the same time, as each waits for the disk. */
async function makeBuilds(
  config: Config,
  log: ReturnType<typeof openLog>,
  {
    seed,
    days,
    now,
    linkedAt,
    isExact,
    progressed,
  }: Required<Pick<DemoOptions, 'seed' | 'days' | 'now' | 'isExact' | 'progressed'>> & { linkedAt: () => number },
) {
  const { dataDir, leaseSeconds, leaseFactor, leaseGraceSeconds, queueCacheBytes } = config;
  const pullCost = toWeight(config.pullCostSeconds);
  const clock = { millis: 0 };
  const lease = {
    silenceMilliseconds: 1000 * leaseSeconds,
    factor: leaseFactor,
    graceMilliseconds: 1000 * leaseGraceSeconds,
    uptime: () => clock.millis,
    uptimeAt: (at: number) => at,
  };
  const store = await serveFolder(dataDir, log, { queues: { pullCost, lease, cacheBytes: queueCacheBytes } });
  const filename = new URL('dist/src/server/process/worker.js', packageFolder).href;
  const setup: WorkerSetup = { source: { dataDir }, tokenHeader: '', pullCost };
  const threads = startThreads({ filename, setup, most: config.workers, isEager: false }, log);
  try {
    const parts = projects.map(() => 0);
    const jobs = new JobRunner(store, threads, config.workers);
    const summaryOf = (build: Build, at: number) =>
      jobs.read('buildSummary', { build, at }, { project: build.project, isPage: false, hasLeft: () => false });
    const summaries = new Summaries(store, summaryOf, now);
    const noteProgress = (i: number) => (part: number) => {
      parts[i] = part;
      progressed(parts.reduce((sum, each) => sum + each, 0) / parts.length);
    };
    // The numbers of builds are in the order in which they are recorded, over all projects.
    const turns = isExact ? new Turns(projects.length) : null;
    const live = await Promise.all(
      projects.map(async (project, i): Promise<LiveProject & { ciRuns: number }> => {
        const { id, token } = await createProject(store.access, project.name, now - days * DAY);
        await changeSettings(store.access, id, SETTINGS);
        const calendar = new Calendar(project, 1000 * seed + i, now, days);
        const turn = turns ? (at: number) => turns.take(i, at) : undefined;
        const past = { store, project: id, pullCost, clock, summaries, isExact, turn, progressed: noteProgress(i) };
        const played = await playPast(past, calendar);
        turns?.end();
        return { token, calendar, ...played };
      }),
    );
    await summaries.end();
    const { secret } = await createOperatorLink(store.signIns, linkedAt());
    return { live, secret };
  } finally {
    await threads.close();
    await store.close();
  }
}
