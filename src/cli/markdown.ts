import { escapeControls } from '../terminal.js';

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

/** A link to an address that a server sent; empty: it is none of the Web. */
export function link(title: string, address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null;
  // The text of a parsed address has no characters that would end the link.
  return url && /^https?:$/.test(url.protocol) ? `[${plain(title)}](<${url.href.replace(/[<>\\|]/g, encodeURIComponent)}>)` : '';
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
