/**
 * All output to stdout and stderr goes through here. Paths, file contents, project names and messages of servers are foreign text, and
 * a terminal, or the log of a CI system, obeys control characters.
 */

/** Writes lines to stderr, for people. stdout is for results. */
export function printToStderr(...lines: readonly string[]): void {
  for (const line of lines) process.stderr.write(`ballast: ${escapeControls(line)}\n`);
}

/** Writes a line to stdout. JSON stays JSON of the same value. */
export function print(line: string): void {
  process.stdout.write(`${escapeControls(line)}\n`);
}

/** Writes a line to stdout, with a tab between fields. */
export function printRow(fields: readonly string[]): void {
  process.stdout.write(`${fields.map(escapeControls).join('\t')}\n`);
}

/** Writes data for programs to stdout, unchanged. */
export function printData(data: string): void {
  process.stdout.write(data);
}

/** Escapes, as \uXXXX, each character that a terminal obeys or does not show: controls (C1 too), line breaks, bidirectional overrides, zero widths. */
export function escapeControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, escaped);
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`).join('');
}

/** 1 test file, 2 test files. */
export function pluralize(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

const MAX_NAMES = 5;

/** The first few of them, and how many more there are. */
export function abbreviate(texts: readonly string[]): string {
  const shown = texts.slice(0, MAX_NAMES).join(', ');
  return texts.length > MAX_NAMES ? `${shown} and ${texts.length - MAX_NAMES} more` : shown;
}
