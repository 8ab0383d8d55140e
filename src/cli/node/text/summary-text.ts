import { durationText } from '../../../base/duration.js';
import { agree, pluralize } from '../../../base/plural.js';
import type { BuildMinutes, ReceivedComparison, ReceivedCompleteness } from '../../../node/client/answers.js';
import { PART_TITLES } from '../../../protocol/answers/minutes.js';
import { priceText } from '../../../protocol/price.js';
import { comersOf, countOf } from './gate-text.js';
import { code, link, plain, sentence, table } from './markdown.js';

const MAX_FILES = 10;
const MAX_NODES = 3;

/**
 * A summary of a build in Markdown, as lines.
 *
 * @param gate null: nothing is known of its queue or split
 * @param comparison with what is usual; null: the build is running, or it is not known
 */
export function summaryLines(minutes: BuildMinutes, gate: ReceivedCompleteness | null, comparison: ReceivedComparison | null): string[] {
  const { wall, price, floor, is_running, verdict, slowest, missing, missing_count, files, assumptions } = minutes;
  const known = [...slowest, ...missing, ...minutes.failed, ...(gate?.flaky ?? [])].map(({ path }) => path);
  const possible = floor < wall ? `, ${durationText(floor)} was possible` : '';
  const ended = missing_count > 0 ? ` for ${files - missing_count} of ${pluralize(files, 'test file')}` : possible;
  return [
    `### Tests: ${durationText(wall)}${is_running ? ' so far' : ended}${price ? ` (${plain(priceText(price))})` : ''}`,
    '',
    sentence(verdict, known),
    '',
    ...comparisonLines(comparison),
    // Nobody knows yet what the parts will be.
    ...(is_running ? [] : partLines(minutes)),
    ...jobLines(minutes),
    ...gateLines(minutes, gate, known),
    ...fileLines('Failed', minutes.failed),
    ...fileLines('Flaky', gate?.flaky ?? []),
    ...fileLines('Muted failures', gate?.muted ?? [], gate?.muted_count, gate?.muted?.length),
    ...slowestLines(minutes),
    ...(assumptions.length > 0 ? ['', `<sub>${assumptions.map(each => sentence(each, known)).join(' ')}</sub>`] : []),
  ];
}

function comparisonLines(comparison: ReceivedComparison | null): string[] {
  if (!comparison?.usual) return [];
  const { verdict, page, causes } = comparison;
  const paths = causes.flatMap(({ path }) => path ?? []);
  return [[sentence(verdict, paths), page === null ? '' : link('Compare', page)].filter(Boolean).join(' '), ''];
}

function partLines({ wall, parts }: BuildMinutes): string[] {
  const rows = parts
    .filter(({ seconds }) => seconds > 0)
    .map(({ name, seconds, nodes }) => [
      // A newer server may have others.
      plain((PART_TITLES as Readonly<Record<string, string>>)[name] ?? name),
      durationText(seconds),
      `${Math.round((100 * seconds) / wall)} %`,
      nodes.length === 0 ? '' : nodeText(nodes.map(({ node_index }) => node_index)),
    ]);
  return rows.length === 0 ? [] : table(['where the time went', '>time', '>part', 'nodes'], rows);
}

/** The job of the node that ended last. */
function jobLines({ nodes = [], is_running }: BuildMinutes): string[] {
  const [last] = nodes.filter(({ end }) => end !== null).sort((a, b) => b.end! - a.end!);
  const job = !is_running && last?.job_url ? link(`Job of node ${last.node_index}`, last.job_url) : '';
  return job === '' ? [] : ['', `${job}, which ended last`];
}

function nodeText(indexes: readonly number[]): string {
  const more = indexes.length - MAX_NODES;
  return `${indexes.slice(0, MAX_NODES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function gateLines(
  { files, missing, missing_count, is_running }: BuildMinutes,
  gate: ReceivedCompleteness | null,
  known: readonly string[],
): string[] {
  const comers = gate && comersOf(gate);
  const nodes = comers ? ` ${comers}.` : '';
  if (gate?.is_complete) return ['', `**Complete**${sentence(countOf(gate), known)}.${nodes}`];
  if (!gate) return ['', `${pluralize(files, 'test file was', 'test files were')} recorded. It is not known whether others were planned.`];
  // What is not recorded yet is no reason to retry a node.
  if (is_running)
    return [
      '',
      `**Running**: ${gate.recorded} of ${pluralize(gate.test_files, 'test file')} ${agree(gate.recorded, 'was', 'were')} recorded so far.`,
    ];
  return [
    '',
    `**Incomplete**${sentence(countOf(gate), known)}.${nodes}`,
    ...gate.errors.map(error => `- ${sentence(error, known)}`),
    ...(gate.may_be_empty ? [`- ${code('ballast verify --may-be-empty GLOB')} passes if the files below had nothing to run`] : []),
    ...fileLines('Missing', missing, missing_count),
  ];
}

function fileLines(title: string, files: readonly { path: string }[], count = files.length, most = MAX_FILES): string[] {
  if (count === 0) return [];
  const more = count - Math.min(most, files.length);
  return [
    '',
    `**${title}**: ${pluralize(count, 'test file')}`,
    '',
    ...files.slice(0, most).map(({ path }) => `- ${code(path)}`),
    ...(more > 0 ? [`- and ${more} more`] : []),
  ];
}

function slowestLines({ slowest }: BuildMinutes): string[] {
  if (slowest.length === 0) return [];
  const rows = slowest
    .slice(0, MAX_FILES)
    .map(({ path, seconds, estimate, is_guess, node_index }) => [
      code(path),
      durationText(seconds),
      estimate === null ? '' : `${durationText(estimate)}${is_guess ? ' (a guess)' : ''}`,
      String(node_index),
    ]);
  return ['', ...table(['slowest files', '>time', '>estimate', '>node'], rows)];
}
