import { durationText } from '../../../base/duration.js';
import { agree, pluralize } from '../../../base/plural.js';
import type { WebhookEventName } from '../../../protocol/project-settings.js';
import type { BuildKey } from '../keys.js';

/** An event of a project. */
export interface WebhookEvent {
  event: WebhookEventName | 'test';
  project: string;
  /** Branch of the build in which the event was noticed; empty in a test. */
  branch: string;
  commit: string;
  /** A sentence for people, with the address of the page if it is known. */
  text: string;
  /** The address of the page that shows it; empty: the public address of the server is not known. */
  url: string;
  build_url: string;
  /** Facts of this kind of event alone. */
  details: Readonly<Record<string, string | number>>;
}

/** The build in which an event was noticed. */
export interface NoticedIn extends Pick<BuildKey, 'branch' | 'commit_hash'> {
  /** Of the build, or of its CI run if nothing was recorded. */
  id: string;
}

/** Writes the events of a project, with the addresses of its pages. */
export class EventWriter {
  /** @param publicUrl of the server; null: it is not known, or has no pages */
  constructor(
    readonly project: string,
    readonly publicUrl: string | null,
  ) {}

  /** @param losses why, in a sentence */
  gateFailed(build: NoticedIn, { missing, files, losses }: { missing: number; files: number; losses: string }): WebhookEvent {
    const what = `${missing} of ${pluralize(files, 'test file')} ${agree(missing, 'was', 'were')} not recorded`;
    return this.#event('gate_failed', build, `the gate failed: ${what}. ${losses}`, this.#build(build), {
      missing_files: missing,
      test_files: files,
      verdict: losses,
    });
  }

  fileGrew(build: NoticedIn, { path, before, after, commit_hash }: GrownFile): WebhookEvent {
    const what = `${path} has taken ${durationText(after)} since commit ${short(commit_hash)}, and took ${durationText(before)} before.`;
    return this.#event('file_grew', build, what, this.#page(`files/file?${new URLSearchParams({ path, branch: build.branch })}`), {
      path,
      before_seconds: before,
      after_seconds: after,
      since_commit: commit_hash,
    });
  }

  runnerSlow(build: NoticedIn, { node_index, node_total, slowness, builds }: SlowNode): WebhookEvent {
    const what = `node ${node_index} of ${node_total} is slow: in the last ${pluralize(builds, 'build')} it usually took ${slowness.toFixed(2)} times as long as the others.`;
    return this.#event(
      'runner_slow',
      build,
      what,
      this.#page(`nodes?${new URLSearchParams({ branch: build.branch, node_total: String(node_total) })}`),
      {
        node_index,
        node_total,
        slowness,
      },
    );
  }

  becameFlaky(build: NoticedIn, { path, commits, rate, seconds }: FlakyFile): WebhookEvent {
    const again = seconds > 0 ? ` Nodes ran ${durationText(seconds)} of tests again because of it.` : '';
    const what = `${path} is flaky: it failed and passed at ${pluralize(commits, 'commit')}, in about ${(100 * rate).toFixed(1)} % of the builds.${again}`;
    return this.#event('became_flaky', build, what, this.#page('flaky'), { path, commits, rate, seconds });
  }

  #event(event: WebhookEventName, build: NoticedIn, what: string, url: string, details: WebhookEvent['details']): WebhookEvent {
    const { branch, commit_hash: commit } = build;
    const text = `${this.project}, ${branch}, commit ${short(commit)}: ${what}${url === '' ? '' : ` ${url}`}`;
    return { event, project: this.project, branch, commit, text, url, build_url: this.#build(build), details };
  }

  #build({ id }: NoticedIn): string {
    return this.#page(`builds/${id}`);
  }

  #page(page: string): string {
    return this.publicUrl === null ? '' : `${this.publicUrl}/p/${encodeURIComponent(this.project)}/${page}`;
  }
}

export function testEvent(project: string): WebhookEvent {
  const text = `This is a test of the webhook of the project ${project}.`;
  return { event: 'test', project, branch: '', commit: '', text, url: '', build_url: '', details: {} };
}

/** A file that takes longer since some build. Durations are seconds. */
export interface GrownFile {
  path: string;
  before: number;
  after: number;
  commit_hash: string;
}

export interface SlowNode {
  node_index: number;
  node_total: number;
  /** Its usual duration relative to its estimates and to the other nodes. */
  slowness: number;
  /** In how many builds that is known. */
  builds: number;
}

/** A file that fails and passes at one commit. */
export interface FlakyFile {
  path: string;
  /** At how many commits. */
  commits: number;
  /** The part of the builds in which it does, from 0 to 1. */
  rate: number;
  /** Seconds that nodes ran again because of it. */
  seconds: number;
}

function short(commit: string): string {
  return /^[0-9a-f]{40,}$/i.test(commit) ? commit.slice(0, 8) : commit;
}
