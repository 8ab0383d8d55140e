import type { BuildMinutes, ToldCompleteness } from '../client/answers.js';
import { durationText } from '../duration.js';
import { allOf, pluralize, wasOrWere } from '../plural.js';
import { escapeControls } from '../terminal.js';

const MAX_FILES = 10;
const MAX_NODES = 3;

/** The names of the parts, as people read them. A newer server may have others. */
const PARTS: Readonly<Record<string, string>> = {
  even_share: 'even share of the work',
  longest_file: 'longest file, beyond an even share',
  slow_nodes: 'slow nodes',
  estimates: 'wrong estimates',
  late_starts: 'late starts',
  unreported: 'time of files that is in no report',
  gaps: 'gaps between files',
  repeats: 'repeats, and lost nodes',
  idle: 'other idle time',
};

/** A summary of a build in Markdown, as lines. @param gate null: nothing is known of its queue or split */
export function summaryLines(minutes: BuildMinutes, gate: ToldCompleteness | null): string[] {
  const { wall, floor, is_running, verdict, slowest, missing, missing_count, files, assumptions } = minutes;
  const known = [...slowest, ...missing].map(({ path }) => path);
  const possible = floor < wall ? `, ${durationText(floor)} was possible` : '';
  const ended = missing_count > 0 ? ` for ${files - missing_count} of ${pluralize(files, 'test file')}` : possible;
  return [
    `### Tests: ${durationText(wall)}${is_running ? ' so far' : ended}`,
    '',
    sentence(verdict, known),
    '',
    // Nobody knows yet what the parts will be.
    ...(is_running ? [] : partLines(minutes)),
    ...gateLines(minutes, gate, known),
    ...fileLines('Failed', minutes.failed),
    ...slowestLines(minutes),
    ...(assumptions.length > 0 ? ['', `<sub>${assumptions.map(each => sentence(each, known)).join(' ')}</sub>`] : []),
  ];
}

function partLines({ wall, parts }: BuildMinutes): string[] {
  const rows = parts
    .filter(({ seconds }) => seconds > 0)
    .map(({ name, seconds, nodes }) => [
      plain(PARTS[name] ?? name),
      durationText(seconds),
      `${Math.round((100 * seconds) / wall)} %`,
      nodes.length === 0 ? '' : nodeText(nodes.map(({ node_index }) => node_index)),
    ]);
  return rows.length === 0 ? [] : table(['where the time went', '>time', '>part', 'nodes'], rows);
}

function nodeText(indexes: readonly number[]): string {
  const more = indexes.length - MAX_NODES;
  return `${indexes.slice(0, MAX_NODES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function gateLines(
  { files, missing, missing_count, is_running }: BuildMinutes,
  gate: ToldCompleteness | null,
  known: readonly string[],
): string[] {
  if (gate?.is_complete) {
    const { test_files, recorded } = gate;
    const how = `${recorded < test_files ? `${recorded} ` : ''}${wasOrWere(recorded)}`;
    return ['', `**Complete**: ${allOf(test_files, 'test file')} ran${recorded < test_files ? ',' : ''} and ${how} recorded.`];
  }
  if (!gate) return ['', `${pluralize(files, 'test file')} ${wasOrWere(files)} recorded. It is not known whether others were planned.`];
  const recorded = `${gate.recorded} of ${pluralize(gate.test_files, 'test file')} ${wasOrWere(gate.recorded)} recorded`;
  // What is not recorded yet is no reason to retry a node.
  if (is_running) return ['', `**Running**: ${recorded} so far.`];
  return [
    '',
    `**Incomplete**: ${recorded}.`,
    ...gate.errors.map(error => `- ${sentence(error, known)}`),
    ...fileLines(
      'Missing',
      missing.map(({ path }) => path),
      missing_count,
    ),
  ];
}

function fileLines(title: string, paths: readonly string[], count = paths.length): string[] {
  if (count === 0) return [];
  const more = count - Math.min(MAX_FILES, paths.length);
  return [
    '',
    `**${title}**: ${pluralize(count, 'test file')}`,
    '',
    ...paths.slice(0, MAX_FILES).map(path => `- ${code(path)}`),
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

/** Text from elsewhere in Markdown. Job summaries and comments render it, so no path may become markup, a link or a mention. */

/** Escapes text, so that it is rendered as it is. */
export function plain(text: string): string {
  const escaped = escapeControls(text).replace(/[\\`*_[\]<>|~&#$]|:(?=\/\/)|(?<=www)\./gi, character => `\\${character}`);
  // A comment hides a mention from GitHub and GitLab, which look for it in the rendered text.
  return escaped.replaceAll('@', '@<!-- -->');
}

/** A code span. In a cell of a table a pipe would end the cell. */
export function code(text: string): string {
  const shown = escapeControls(text).replaceAll('|', '\\|');
  const longest = Math.max(0, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const space = longest > 0 || shown.trim() !== shown ? ' ' : '';
  return `${fence}${space}${shown}${space}${fence}`;
}

/** A sentence with paths: those that are known become code spans. */
export function sentence(text: string, paths: readonly string[]): string {
  const path = paths.filter(each => text.includes(each)).sort((a, b) => b.length - a.length)[0];
  if (path === undefined) return plain(text);
  const at = text.indexOf(path);
  return `${plain(text.slice(0, at))}${code(path)}${sentence(text.slice(at + path.length), paths)}`;
}

/** A table. Columns whose title begins with `>` are aligned to the right. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const isRight = titles.map(title => title.startsWith('>'));
  return [
    row(titles.map((title, i) => (isRight[i] ? title.slice(1) : title))),
    row(isRight.map(right => (right ? '--:' : '---'))),
    ...rows.map(row),
  ];
}
