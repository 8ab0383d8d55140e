/**
 * The one way out to stdout and stderr. Paths, file contents, project names and the words of servers are foreign text, and a terminal,
 * or the log of a CI system, obeys control characters.
 */

/** stderr, for people: a line each. stdout is for results. */
export function say(...lines: readonly string[]): void {
  for (const line of lines) process.stderr.write(`ballast: ${printable(line)}\n`);
}

/** stdout: one line. JSON stays JSON of the same value. */
export function print(line: string): void {
  process.stdout.write(`${printable(line)}\n`);
}

/** stdout: one line, a tab between the fields. */
export function printRow(fields: readonly string[]): void {
  process.stdout.write(`${fields.map(printable).join('\t')}\n`);
}

/** stdout, unchanged: data for programs. */
export function printData(data: string): void {
  process.stdout.write(data);
}

/** Text with each character that a terminal obeys or does not show as \uXXXX: controls (C1 too), line breaks, bidirectional overrides, zero widths. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, escaped);
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`).join('');
}

/** 1 test file, 2 test files. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

const NAMED = 5;

/** The first of them. */
export function named(texts: readonly string[]): string {
  const shown = texts.slice(0, NAMED).join(', ');
  return texts.length > NAMED ? `${shown} and ${texts.length - NAMED} more` : shown;
}
