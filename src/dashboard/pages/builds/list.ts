import type { BuildLine } from '../../../protocol/answers/trends.js';
import { hasEndedComplete } from '../../../protocol/build-state.js';
import { limits } from '../../../protocol/limits.js';
import { count, duration, number } from '../../text/format.js';
import { branchInSentence } from '../../text/in-sentence.js';

/** Returns a key that stays the same while a build is listed: it is a CI run first, and has an id of its own once it is recorded. */
export function buildKey({ ci_run_id, build_id }: BuildLine): string {
  return ci_run_id ?? build_id!;
}

/** Returns a list that begins with the newest page, and goes on with what was known of older builds. */
export function mergeBuilds(known: readonly BuildLine[], page: readonly BuildLine[]): BuildLine[] {
  const last = page.at(-1);
  if (!last) return [];
  const keys = new Set(page.map(buildKey));
  // What is newer than the end of the page and not on it is gone.
  return [...page, ...known.filter(build => !keys.has(buildKey(build)) && build.created_at <= last.created_at)];
}

/** Returns the known builds in their order, each as it is on the newest page, and how many builds of that page are new. */
export function updateBuilds(known: readonly BuildLine[], page: readonly BuildLine[]): { builds: BuildLine[]; added: number } {
  const fresh = new Map(page.map(build => [buildKey(build), build]));
  const builds = known.map(build => fresh.get(buildKey(build)) ?? build);
  for (const build of known) fresh.delete(buildKey(build));
  return { builds, added: fresh.size };
}

const ENDINGS: Record<string, string> = { failed: 'failed after', missing: 'ended incomplete after', cancelled: 'was cancelled after' };
/** From so many builds on a median tells what is usual. A smaller part of it is no difference. */
const LEAST_BUILDS = 3;
const LEAST_PART = 0.03;

/** Says how the last build of a branch ended, and how those before it in the list did; empty: none of the branch has ended. */
export function branchSentences(builds: readonly BuildLine[], branch: string | null): string[] {
  const ended = builds.filter(build => build.branch === branch && !build.is_running && build.summary);
  const [last, ...before] = ended;
  if (!last) return [];
  const { state, node_total, summary } = last;
  const usual = before.filter(build => hasEndedComplete(build.state) && build.node_total === node_total);
  const walls = usual
    .slice(0, limits.usualBuilds)
    .map(build => build.summary!.wall)
    .sort((a, b) => a - b);
  const median = (walls[(walls.length - 1) >> 1]! + walls[walls.length >> 1]!) / 2;
  const more = summary!.wall - median;
  const than = Math.abs(more) < LEAST_PART * median ? 'about' : `${duration(Math.abs(more))} ${more > 0 ? 'more' : 'less'} than`;
  const against = hasEndedComplete(state) && walls.length >= LEAST_BUILDS ? `, ${than} the median of the ${walls.length} before` : '';
  const red = ended.filter(build => build.state === 'failed' || build.state === 'missing').length;
  const what = ended.some(build => build.summary!.failed !== null) ? 'Files failed or are' : 'Its clients report no failures; files are';
  return [
    `The last build of ${branchInSentence(last.branch)} ${ENDINGS[state] ?? 'took'} ${duration(summary!.wall)}${against}.`,
    before.length === 0 ? '' : `${what} missing in ${red === 0 ? 'none' : red} of its last ${ended.length} builds.`,
  ].filter(Boolean);
}

/** Says what is listed of the recorded builds that a search finds: "40 of 361 builds, 2 running, 3 unrecorded". Those that run are not among the 361. */
export function shownText(builds: readonly BuildLine[], total: number): string {
  const running = builds.filter(({ is_running }) => is_running);
  const unrecorded = unrecordedIn(builds) - unrecordedIn(running);
  const ended = builds.length - running.length - unrecorded;
  const all = total - running.length + unrecordedIn(running);
  const others = [running.length > 0 && `${number(running.length)} running`, unrecorded > 0 && `${number(unrecorded)} unrecorded`].filter(
    Boolean,
  );
  if (all === 0 && others.length > 0) return others.join(', ');
  return [(ended < all ? `${number(ended)} of ` : '') + count(all, 'build'), ...others].join(', ');
}

/** Counts the builds, of these, that the total does not count. */
export const unrecordedIn = (builds: readonly BuildLine[]) => builds.filter(({ build_id }) => build_id === null).length;
