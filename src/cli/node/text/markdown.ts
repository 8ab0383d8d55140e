import { escapeControls } from '../../../base/terminal.js';

/** Text from elsewhere in Markdown. Job summaries and comments render it, so no path may become markup, a link or a mention. */

/** Escapes text, so that it is rendered as it is. */
export function plain(text: string): string {
  const escaped = escapeControls(text).replace(/[\\`*_[\]<>|~&#$]|:(?=\/\/)|(?<=www)\./gi, character => `\\${character}`);
  // A comment hides a mention from GitHub and GitLab, which look for it in the rendered text.
  return escaped.replaceAll('@', '@<!-- -->');
}

/**
 * A code span; around pipes, several. A backslash keeps a pipe from ending the cell of a table, but not one that the text has before it, and
 * outside of tables it is shown.
 */
export function code(text: string): string {
  return escapeControls(text)
    .split('|')
    .map(part => (part === '' ? '' : span(part)))
    .join('&#124;');
}

function span(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  // One is dropped at each end, unless there are only spaces.
  const space = (longest > 0 || text.trim() !== text) && /[^ ]/.test(text) ? ' ' : '';
  return `${fence}${space}${text}${space}${fence}`;
}

/** A link to an address that a server sent; empty: it is none of the Web. */
export function link(title: string, address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null;
  // The text of a parsed address has no characters that would end the link.
  return url && /^https?:$/.test(url.protocol) ? `[${plain(title)}](<${url.href.replace(/[<>\\|]/g, encodeURIComponent)}>)` : '';
}

/** A sentence with paths: those that are known become code spans. */
export function sentence(text: string, paths: readonly string[]): string {
  // Half a character is found within others.
  const path = paths.filter(each => each.isWellFormed() && text.includes(each)).sort((a, b) => b.length - a.length)[0];
  if (path === undefined) return plain(text);
  const at = text.indexOf(path);
  const [before, rest] = [text.slice(0, at), text.slice(at + path.length)].map(part => sentence(part, paths)) as [string, string];
  // Two code spans side by side would be one.
  return `${before}${before.endsWith('`') ? '<!-- -->' : ''}${code(path)}${rest.startsWith('`') ? '<!-- -->' : ''}${rest}`;
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
