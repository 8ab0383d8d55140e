import { rounded } from '../../../base/rounding.js';
import { limits } from '../../../protocol/limits.js';
import type { WebhookEventName } from '../../../protocol/project-settings.js';
import type { Store } from '../../engine/ports/store.js';
import type { GrownFile, SlowNode } from '../../engine/webhooks/event.js';
import { fileChanges } from './file-changes.js';
import { type FileTable, fileTable } from './file-table.js';
import { nodeTrends } from './node-trends.js';

/** Grown files of which it is looked up whether an event was made. */
const GROWN_FILES_READ = 200;

export interface FlagsSubject {
  project: number;
  branch: string;
  node_total: number;
  events: readonly WebhookEventName[];
}

/** Flags of trends on the newest builds of a branch. */
export interface Flags {
  grown: NewlyGrown[];
  slow: SlowNode[];
}

export interface NewlyGrown extends GrownFile {
  /** The build in which it began, and those around it: with more builds, another of them may be found. */
  around: number[];
}

/** A change is new in so many builds that measured the file: a factor of 1.3 is found after six. */
const NEW_BUILDS = 10;
/** Two changes of a file are at least three builds apart. */
const AROUND = 2;
const LEAST_SECONDS = 10;
const LEAST_FACTOR = 1.2;

/** Throws a 422 when recorded runs do not fit in memory. */
export async function flagsOf(store: Pick<Store, 'builds' | 'summaries'>, subject: FlagsSubject): Promise<Flags> {
  const { project, branch, node_total, events } = subject;
  return {
    grown: events.includes('file_grew') ? await grownFiles(store, await fileTable(store, project, branch)) : [],
    slow: events.includes('runner_slow') ? await slowNodes(store, { project, branch, node_total }) : [],
  };
}

/** The files that grew, those by most first. */
async function grownFiles({ builds }: Pick<Store, 'builds'>, table: FileTable): Promise<NewlyGrown[]> {
  const grown: (Omit<NewlyGrown, 'path'> & { number: number })[] = [];
  for (let file = 0; file < table.paths.length; file++) {
    const [start, end] = [table.starts[file]!, table.starts[file + 1]!];
    const times = table.seconds.subarray(start, end);
    // The look for changes takes much longer.
    if (Math.max(...times) - Math.min(...times) < LEAST_SECONDS) continue;
    const change = fileChanges(times, table.isCut.subarray(start, end)).at(-1);
    if (!change || times.length - change.index > NEW_BUILDS) continue;
    const { before, after, index } = change;
    if (after - before < LEAST_SECONDS || after < LEAST_FACTOR * before) continue;
    const around = Array.from({ length: 2 * AROUND + 1 }, (_, i) => index + i - AROUND).filter(each => each >= 0 && each < times.length);
    const buildAt = (at: number) => table.builds[table.at[start + at]!]!;
    grown.push({
      number: table.paths[file]!,
      ...{ before: rounded(before), after: rounded(after), commit_hash: buildAt(index).commit_hash },
      around: [index, ...around.filter(each => each !== index)].map(each => buildAt(each).number),
    });
  }
  grown.sort((a, b) => b.after - b.before - (a.after - a.before));
  return Promise.all(grown.slice(0, GROWN_FILES_READ).map(async ({ number, ...file }) => ({ ...file, path: await builds.path(number) })));
}

async function slowNodes(
  store: Pick<Store, 'builds' | 'summaries'>,
  subject: { project: number; branch: string; node_total: number },
): Promise<SlowNode[]> {
  const { answer } = await nodeTrends(store, { ...subject, builds: limits.trendBuilds });
  return answer.nodes.flatMap(({ node_index, is_slow, median, slowness }): SlowNode[] => {
    const builds = slowness.filter(each => each !== null).length;
    return is_slow && median !== null ? [{ node_index, node_total: answer.node_total, slowness: median, builds }] : [];
  });
}
