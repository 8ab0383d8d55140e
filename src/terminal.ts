/**
 * All output to stdout and stderr. Paths, file contents, project names and messages of servers may contain control characters, which a
 * terminal or the log of a CI system would obey.
 */

/** Writes messages for people to stderr. stdout is for results. */
export function printToStderr(...lines: readonly string[]): void {
  for (const line of lines) process.stderr.write(`ballast: ${escapeControls(line)}\n`);
}

/** Writes a line to stdout. Escaped JSON has the same value. */
export function print(line: string): void {
  process.stdout.write(`${escapeControls(line)}\n`);
}

/** Writes a line of fields to stdout, separated by tabs. */
export function printRow(fields: readonly string[]): void {
  process.stdout.write(`${fields.map(escapeControls).join('\t')}\n`);
}

/** Writes data for programs to stdout, unchanged. */
export function printData(data: string): void {
  process.stdout.write(data);
}

/** Escapes, as \uXXXX, each character that a terminal obeys or hides: controls, line breaks, bidirectional overrides, zero-width characters. */
export function escapeControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, escaped);
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`).join('');
}

/** Returns the count and the noun: 1 test file, 2 test files. */
export function pluralize(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

const MAX_NAMES = 5;

/** Joins the first few texts and counts the others: a, b, c, d, e and 3 more. */
export function abbreviate(texts: readonly string[]): string {
  const shown = texts.slice(0, MAX_NAMES).join(', ');
  return texts.length > MAX_NAMES ? `${shown} and ${texts.length - MAX_NAMES} more` : shown;
}
