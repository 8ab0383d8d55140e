import { durationText } from '../duration.js';
import type { Timeline } from '../timeline/timeline.js';
import { executionsOf } from './executions.js';
import { nodesText } from './verdict.js';

/** What is not known of a CI run, and how its minutes count instead, a sentence each. */
export function assumptionsOf(timeline: Timeline): string[] {
  const { kind, isRunning, paused, nodes } = timeline;
  const worked = executionsOf(timeline);
  const sentences: string[] = [];
  if (isRunning) sentences.push('The build is running: it counts until now, and files that are not recorded take the time of their batch.');
  if (kind !== 'queue') {
    sentences.push('When a node began is not known: its last recording minus its recorded times counts, so late starts include gaps.');
  }
  if (kind === 'recordings')
    sentences.push('No queue and no split is known: the build begins with the first recorded time, and nothing is known to be missing.');
  const scaled = worked.filter(({ works }) => works.some(({ scale }) => scale < 0.99)).map(({ lane }) => lane.node_index);
  if (scaled.length > 0) {
    sentences.push(
      `${nodesText(scaled)} recorded more time than passed, as parallel test runners do: the file times are scaled down to it.`,
    );
  }
  const lost = worked.filter(({ isLost }) => isLost).map(({ lane }) => lane.node_index);
  if (lost.length > 0) {
    sentences.push(
      `${nodesText(lost)} recorded nothing at the end: the last files count for their estimated time, or until they went to another node.`,
    );
  }
  const absent = nodes.filter(({ start }) => start === null).map(({ node_index }) => node_index);
  if (absent.length > 0 && !isRunning)
    sentences.push(`${nodesText(absent)} recorded nothing and ${absent.length === 1 ? 'counts' : 'count'} as late for the whole build.`);
  if (paused > 0) sentences.push(`${durationText(paused / 1000)} in which nothing ran, until a node was retried, are left out.`);
  return sentences;
}
