/** To whoever watches the CI job: stdout is for the files. */
export function say(...lines: readonly string[]): void {
  for (const line of lines) process.stderr.write(`ballast: ${printable(line)}\n`);
}

/** A path may be anything, and a terminal, or the log of a CI system, obeys. */
export function printable(line: string): string {
  return line.replaceAll(/[\x00-\x1f\x7f-\x9f]/g, '?');
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
