import { DAY_MILLISECONDS, dateOf } from '../../src/base/time.js';
import { spansOf } from '../../src/dashboard/pages/trends/growth.js';
import { withQuery } from '../../src/dashboard/routes/routes.js';
import type { MinutesAnswer } from '../../src/protocol/answers/minutes.js';
import type { BuildLine, BuildLines, BuildTrend, FileTrends } from '../../src/protocol/answers/trends.js';
import { hasEndedComplete } from '../../src/protocol/build-state.js';
import { limits } from '../../src/protocol/limits.js';
import type { ProjectLine, SessionAnswer } from '../../src/protocol/messages/dashboard.js';
import { fileOfPiece } from '../../src/protocol/piece-path.js';
import { usualNodeTotal } from '../../src/protocol/usual-nodes.js';
import type { Demo } from '../demo/open-demo.js';
import { idsIn, type Recorded, Recorder } from './recorder.js';

/** Requests of so many pages are on their way at the same time. */
const AT_ONCE = 4;
/** Files of one request of a list. */
const FILES_OF_PAGE = 500;

/**
 * Records what a server answers to each page that a link leads to, and to most of what a reader may choose on it without typing. Of the files on
 * branches beside the default one these are the files that a build names. The answers come by their keys, in the order of these. The browser test of
 * the site fails where a page asks for something else.
 */
export async function recordDemo(demo: Pick<Demo, 'url' | 'link'>): Promise<[key: string, recorded: Recorded][]> {
  const recorder = await Recorder.signedIn(demo);
  const session = (await recorder.ask<SessionAnswer>('/dashboard/session'))!;
  await recorder.ask('/dashboard/projects');
  for (const project of session.projects) await new ProjectRecording(recorder, project).record();
  // A reader is offered nothing that changes something.
  Object.assign(session, { role: 'reader', has_password: false });
  return recorder.recorded();
}

/** The pages of a project. */
class ProjectRecording {
  readonly #recorder: Recorder;
  readonly #project: ProjectLine;

  constructor(recorder: Recorder, project: ProjectLine) {
    this.#recorder = recorder;
    this.#project = project;
  }

  #ask<T extends object>(path: string, query: Parameters<typeof withQuery>[1] = {}): Promise<T | null> {
    return this.#recorder.ask<T>(withQuery(path, query), this.#project.id);
  }

  async record(): Promise<void> {
    const builds = await this.#lists();
    await Promise.all([this.#trends(), this.#nodes(), this.#whatIf(), this.#ask('/v1/flaky')]);
    const done = new Set<string>();
    await someAtOnce(builds, build => this.#build(build.build_id ?? build.ci_run_id!, done));
    await this.#files();
  }

  /** The lists of builds, those that links search for among them. */
  async #lists(): Promise<BuildLine[]> {
    const path = '/v1/build_summaries';
    const builds: BuildLine[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const lines: BuildLines = (await this.#ask<BuildLines>(path, { cursor }))!;
      builds.push(...lines.builds);
      for (const { build_id, commit_hash, branch, node_total } of lines.builds)
        if (build_id !== null) this.#recorder.rename(build_id, [this.#project.name, commit_hash, branch, node_total]);
      cursor = lines.next;
    }
    await this.#ask(path, { limit: 20 });
    await this.#ask(path, { failed: 'true' });
    const orders = ['started', 'nodes', 'wall', 'idle', 'saved'].flatMap(order => [order, `-${order}`]);
    for (const sort of orders) await this.#ask(path, { sort, limit: limits.buildLinesPerPage });
    for (const commit_hash of new Set(builds.map(build => build.commit_hash))) await this.#ask(path, { commit_hash });
    for (const node_total of new Set(builds.map(build => build.node_total))) await this.#ask(path, { node_total });
    for (const branch of new Set(builds.map(build => build.branch))) {
      for (const limit of [null, 30]) await this.#ask(path, { branch, limit });
      await this.#ask('/v1/trends/node_counts', { branch });
      await this.#list(branch, 'decided');
    }
    return builds;
  }

  async #trends(): Promise<void> {
    const path = '/v1/trends/builds';
    for (const branch of [null, this.#project.default_branch]) {
      for (const days of [30, 90, 365]) {
        const daily = (await this.#ask<BuildTrend>(path, { branch, days }))!;
        const spans = spansOf(daily);
        for (const by of ['week', 'range']) await this.#ask(path, { branch, days, by });
        for (const span of [spans?.first, spans?.last]) if (span) await this.#ask(path, { branch, ...span, by: 'range' });
        await this.#ask('/v1/flaky', { days, limit: 1 });
        const weekly = (await this.#ask<BuildTrend>(path, { branch, days, by: 'week' }))!;
        for (const [{ days }, width] of [
          [daily, 1],
          [weekly, 7],
        ] as const)
          for (const { day } of days)
            await this.#ask('/v1/build_summaries', { branch, from: day, to: dateOf(Date.parse(day) / DAY_MILLISECONDS + width - 1) });
      }
    }
    await this.#ask('/v1/trends/files', { sort: 'growth', limit: 200 });
  }

  async #nodes(): Promise<void> {
    for (const branch of [null, this.#project.default_branch]) await this.#ask('/v1/trends/nodes', { branch });
  }

  /** The build that the page plays when it is asked for none, by all choices. */
  async #whatIf(): Promise<void> {
    const branch = this.#project.default_branch;
    const { builds } = (await this.#ask<BuildLines>('/v1/build_summaries', { branch, limit: limits.trendBuilds }))!;
    const ended = builds.filter(build => build.build_id !== null && !build.is_running);
    const usual = ended.filter(build => build.node_total === usualNodeTotal(ended));
    const played = usual.find(({ state }) => hasEndedComplete(state)) ?? usual[0];
    if (!played) return;
    for (const mode of [null, 'queue', 'split']) {
      for (const in_pieces of [null, 'true', 'false']) {
        await this.#ask(`/v1/builds/${played.build_id}/what_if`, { mode, in_pieces });
        await this.#ask('/v1/trends/node_counts', { branch, mode, in_pieces });
      }
    }
  }

  /** A page of a build or of a CI run, and those to which it leads. */
  async #build(id: string, done: Set<string>): Promise<void> {
    if (done.has(id)) return;
    done.add(id);
    const path = `/v1/builds/${id}`;
    const build = await this.#ask<MinutesAnswer>(`${path}/minutes`);
    if (!build) return;
    const comparison = await this.#ask(`${path}/comparison`);
    for (const part of ['timeline', 'why']) await this.#ask(`${path}/${part}`);
    const { commit_hash, branch, node_total, kind, ci_run, previous, other_ci_runs, spared } = build;
    if (build.is_running) await this.#ask(`${path}/forecast`);
    else {
      await this.#ask(`${path}/what_if`);
      const ofRun = { [kind === 'queue' ? 'node_build_id' : 'ci_build_id']: ci_run };
      await this.#ask('/v1/builds/completeness', { commit_hash, branch, node_total, ...ofRun });
    }
    for (const file of pathsIn({ build, comparison })) await this.#history(file, branch);
    for (const other of idsIn({ previous, other_ci_runs, spared })) await this.#build(other, done);
  }

  /** The files of the default branch in each order, and the page of each. */
  async #files(): Promise<void> {
    const branch = this.#project.default_branch!;
    const orders = ['path', 'decided', 'estimate', 'spread', 'growth'];
    const [files] = await Promise.all(orders.map(sort => this.#list(branch, sort)));
    await someAtOnce(files!, path => this.#history(path, branch));
  }

  /** A list of files. Returns the paths. */
  async #list(branch: string, sort: string): Promise<string[]> {
    const query = { branch, sort, limit: FILES_OF_PAGE };
    const first = (await this.#ask<FileTrends>('/v1/trends/files', query))!;
    const files = [...first.files];
    while (files.length < first.file_count)
      files.push(...(await this.#ask<FileTrends>('/v1/trends/files', { ...query, offset: files.length }))!.files);
    return files.map(({ path }) => path);
  }

  #history(path: string, branch: string): Promise<object | null> {
    return this.#ask('/v1/trends/files/history', { path: fileOfPiece(path), branch });
  }
}

/** The files that an answer names. */
function pathsIn(answer: object): Set<string> {
  return new Set([...JSON.stringify(answer).matchAll(/"path":("(?:[^"\\]|\\.)*")/g)].map(([, path]) => JSON.parse(path!) as string));
}

/** Does a few at a time, until all are done. */
async function someAtOnce<T>(all: readonly T[], task: (each: T) => Promise<unknown>): Promise<void> {
  const left = all.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const each of left) await task(each);
    }),
  );
}
