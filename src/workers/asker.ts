import { apiErrors } from '../api-error.js';
import { limits } from '../limits.js';

/** Who asks for work that may have to wait. */
export interface Asker {
  project: number;
  /** A page of the dashboard asks, not a CI job. */
  isPage: boolean;
  hasLeft: () => boolean;
}

/** The line in which the work waits: the pages of a project have one of their own, so that they take no place of its CI jobs. */
export function lineOf({ project, isPage }: Pick<Asker, 'project' | 'isPage'>): number | string {
  return isPage ? `pages of ${project}` : project;
}

/** Throws when too much work waits in the line of the asker: a 503 for CI jobs, a 429 for pages. @param load what there is too much of */
export function assertRoom(asker: Pick<Asker, 'isPage'>, waiting: number, mostWaiting: number, load: string): void {
  const most = asker.isPage ? Math.min(mostWaiting, limits.waitingPagesPerProject) : mostWaiting;
  if (waiting < most) return;
  const seconds = limits.retryAfterSeconds;
  throw asker.isPage ? apiErrors.tooManyPages(load, seconds) : apiErrors.overloaded('jobs', load, seconds);
}
