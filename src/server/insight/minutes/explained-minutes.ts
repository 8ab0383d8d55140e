import { durationText } from '../../../base/duration.js';
import { agree, pluralize } from '../../../base/plural.js';
import { wholeMilliseconds } from '../../../base/rounding.js';
import type { MinutesAnswer } from '../../../protocol/answers/minutes.js';
import { limits } from '../../../protocol/limits.js';
import { filesAmong } from '../../../protocol/piece-path.js';
import { costOf, type PriceSettings, paidSeconds } from '../../../protocol/price.js';
import type { CuttingForecast } from '../../planning/forecasting/forecast.js';
import type { BuildLinks } from '../build-links.js';
import { buildHead, namedCiRun, type Subject } from '../subject.js';
import { countedNodes } from '../timeline/counted-nodes.js';
import { isRecorded, jobsOf, type Span, type Timeline } from '../timeline/timeline.js';
import type { FileOutcomes } from './file-outcomes.js';
import { leastDelay } from './last-node.js';
import { type Minutes, minutesOf } from './minutes.js';
import { nodesText } from './nodes-text.js';
import { verdictOf } from './verdict.js';

/** Divides the wall time of a CI run into parts, with the nodes, files and sentences that explain them, and the addresses of the build elsewhere. */
export function explainMinutes(
  subject: Subject,
  timeline: Timeline,
  { slowest, failed, flaky, missing, open }: FileOutcomes,
  links: BuildLinks,
  settings: PriceSettings,
  cutting: CuttingForecast | null,
  proofs: Pick<MinutesAnswer, 'spared' | 'proved'>,
): MinutesAnswer {
  const minutes = minutesOf(timeline);
  const { wall, floor, parts } = minutes;
  const files = filesAmong(timeline.paths);
  const jobs = jobsOf(timeline);
  const verdict = verdictOf(timeline, minutes, { failed, flaky, missing });
  return {
    ...buildHead(subject, timeline),
    ...{ wall, floor, lost: wholeMilliseconds(wall - floor), parts },
    ...{ jobs: jobs.length, paid_seconds: paidSeconds(settings, jobs), price: costOf(settings, jobs) },
    verdict: [verdict.text, timeline.is_running ? '' : cuttingText(cutting, minutes)].filter(Boolean).join(' '),
    verdict_paths: verdict.paths,
    assumptions: assumptionsOf(timeline, minutes),
    cost: timeline.cost,
    nodes: timeline.nodes.map(({ node_index, start, end, recordedAt, spans, isCancelled = false }, i) => {
      const { work, repeats, unreported, gaps, idle, slowness, isLost } = minutes.nodes[i]!;
      return {
        ...{ node_index, start, end, recorded: recordedAt !== null },
        batches: spans.filter(({ batch }) => batch !== null).length,
        files: new Set(spans.flatMap(span => span.files)).size,
        // What is left of the build of a lost node is no time of its files.
        busy: wholeMilliseconds(work + repeats - (isLost ? wall - end! : 0)),
        unreported: wholeMilliseconds(unreported),
        gaps: wholeMilliseconds(gaps),
        idle: wholeMilliseconds(idle),
        repeats: wholeMilliseconds(repeats),
        slowness: slowness === null ? null : Number(slowness.toFixed(3)),
        is_cancelled: isCancelled,
        job_url: links.jobUrl(node_index),
      };
    }),
    slowest,
    failed: (failed ?? []).slice(0, limits.completenessEntries),
    failed_count: failed && filesAmong(failed.map(({ path }) => path)),
    missing: missing.slice(0, limits.completenessEntries),
    missing_count: filesAmong(missing.map(({ path }) => path)),
    files,
    done_count: files - filesAmong(open),
    ...{ commit_url: links.commit_url, diff_url: links.diff_url, previous: links.previous },
    other_ci_runs: subject.ciRuns.filter(({ id }) => id !== subject.ciRun?.id).map(namedCiRun),
    ...proofs,
  };
}

/** Says what pieces of long files would have saved; empty: little, or the build had them. */
function cuttingText(cutting: CuttingForecast | null, { wall, parts }: Minutes): string {
  if (!cutting || cutting.is_done) return '';
  // The forecast rests on estimates. The build could not end before an even share of what it took.
  const saves = Math.min(cutting.saves, wall - parts.find(({ name }) => name === 'even_share')!.seconds);
  if (saves <= leastDelay(wall)) return '';
  return `Running ${pluralize(cutting.files, 'long file')} in pieces would have saved about ${durationText(saves)}: add --pieces to ballast queue.`;
}

/** Unknown facts of a CI run and the assumptions in their place, one sentence each. */
export function assumptionsOf(timeline: Timeline, minutes: Minutes): string[] {
  const { kind, areStartsKnown, is_running, paused, nodes } = timeline;
  const sentences: string[] = [];
  if (is_running)
    sentences.push('The build is running. Its time counts until now, and files that are not recorded yet share the time of their batch.');
  if (!areStartsKnown)
    sentences.push(
      'The start of a node is not known. It is taken to be the last recording minus the recorded times, so late starts include gaps.',
    );
  if (kind === 'recordings')
    sentences.push(
      'No queue or split of the build is known. It is taken to begin with the first recorded time, and no file is known to be missing.',
    );
  const scaled = minutes.nodes.filter(({ isScaled }) => isScaled).map(({ node_index }) => node_index);
  if (scaled.length > 0)
    sentences.push(
      `${nodesText(scaled)} recorded more time than passed, as parallel test runners do. The times of ${agree(scaled.length, 'its', 'their')} files are scaled down to fit.`,
    );
  const lost = minutes.nodes.filter(({ isLost }) => isLost).map(({ node_index }) => node_index);
  if (lost.length > 0)
    sentences.push(
      `${nodesText(lost)} recorded nothing for ${agree(lost.length, 'its', 'their')} last files. They count with their expected time, or until another node got them.`,
    );
  const unrecorded = nodes.filter(({ node_index, spans }) => !lost.includes(node_index) && spans.slice(0, -1).some(isUnrecorded));
  // A client may record at its end only.
  if (unrecorded.length > 0 && !is_running)
    sentences.push(
      `${nodesText(unrecorded.map(({ node_index }) => node_index))} began again before recording some files. Until then, these count with their estimates.`,
    );
  const absent = nodes.filter(({ start }) => start === null).map(({ node_index }) => node_index);
  if (absent.length > 0 && !is_running)
    sentences.push(
      countedNodes(timeline).length < nodes.length
        ? `${nodesText(absent)} never came and ${agree(absent.length, 'does', 'do')} not count.`
        : `${nodesText(absent)} recorded nothing and ${agree(absent.length, 'counts', 'count')} as late for the whole build.`,
    );
  if (paused > 0) sentences.push(`A pause of ${durationText(paused)}, in which nothing ran until a node was retried, is left out.`);
  return sentences;
}

function isUnrecorded(span: Span): boolean {
  return span.files.length > 0 && !isRecorded(span);
}
