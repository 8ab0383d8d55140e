import type { Millis, Store } from '../engine/ports/store.js';
import type { Subject } from '../insight/subject.js';

/**
 * The entity tag of an answer about a CI run that runs: what the store had of the CI run, when the answer was made, and until when only the
 * clock changes it. So a server that remembers nothing knows whether it would say the same again, without making the answer.
 */
export interface LiveTag {
  /** See `versionOf`. */
  version: string;
  at: Millis;
  until: Millis;
}

/** Returns a text that is another one after each batch, report, recorded run and new CI run of the build. */
export async function versionOf({ queues }: Store, { recorded, ciRun, ciRuns }: Subject): Promise<string> {
  const revision = ciRun?.kind === 'queue' ? await queues.revision(ciRun.plan) : 0;
  return [recorded?.recorded ?? 0, revision, ciRuns[0]?.id ?? ''].join('.');
}

/** The tag as a header. It is weak, because the times of nodes at work grow in an answer that says the same. */
export function tagText({ version, at, until }: LiveTag): string {
  return `W/"${version}/${at}/${until}"`;
}

/** Returns when an answer was made that the client has and that still holds; null: there is none. */
export function madeAt(ifNoneMatch: string, version: string, now: Millis): Millis | null {
  const [, known, at, until] = /^W\/"([^/"]*)\/(\d+)\/(\d+)"$/.exec(ifNoneMatch) ?? [];
  return known === version && Number(at) <= now && now <= Number(until) ? Number(at) : null;
}
