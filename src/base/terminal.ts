/**
 * All output to stdout and stderr. Paths, file contents, project names and messages of servers may contain control characters, which a
 * terminal or the log of a CI system would obey.
 */

/** Writes messages for people to stderr. stdout is for results. */
export function printToStderr(...lines: readonly string[]): void {
  for (const line of lines) process.stderr.write(`ballast: ${escapeControls(line)}\n`);
}

/** Writes a line that a CI system obeys to stderr, where stdout is for a result. */
export function printCommandToStderr(line: string): void {
  process.stderr.write(`${escapeControls(line)}\n`);
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

const MAX_NAMES = 5;

/** Joins the first few texts and counts the others: a, b, c, d, e and 3 more. */
export function abbreviate(texts: readonly string[], max = MAX_NAMES): string {
  const shown = texts.slice(0, max).join(', ');
  return texts.length > max ? `${shown} and ${texts.length - max} more` : shown;
}

const INTERVAL_MILLISECONDS = 200;
const ERASE_LINE = '\r\x1b[K';

export interface Progress {
  /** Shows the text, at most every 200 ms. */
  show(text: () => string): void;
  end(): void;
}

/**
 * Shows the progress of long work in one line of the terminal. Does nothing if stderr is not a terminal.
 * @param isWanted false: the work itself is written to the terminal
 */
export function startProgress(isWanted = true): Progress {
  const { stderr } = process;
  let next = performance.now() + INTERVAL_MILLISECONDS;
  let isShown = false;
  return {
    show(text) {
      if (!isWanted || !stderr.isTTY || performance.now() < next) return;
      next = performance.now() + INTERVAL_MILLISECONDS;
      isShown = true;
      // Only the last line of wrapped text could be erased.
      stderr.write(`${ERASE_LINE}${escapeControls(text()).slice(0, Math.max(1, stderr.columns - 1))}`);
    },
    end() {
      if (isShown) stderr.write(ERASE_LINE);
    },
  };
}
