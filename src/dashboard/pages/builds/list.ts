import type { BuildLine } from '../../../protocol/answers/trends.js';

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
