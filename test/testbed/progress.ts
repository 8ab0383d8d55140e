/** Prints the current step, if stderr is a terminal. */
export function printStep(what: string): void {
  if (process.stderr.isTTY) process.stderr.write(`${what}\n`);
}

/** Prints progress on one line, if stderr is a terminal. */
export function printProgress(what: string, done: number, total: number): void {
  if (!process.stderr.isTTY || (done % Math.ceil(total / 200) !== 0 && done !== total)) return;
  process.stderr.write(`\r${what}: ${done} of ${total}${done === total ? '\n' : ''}`);
}

/** Replaces the status line, if stderr is a terminal. An empty line removes it. */
export function showStatus(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line}`);
}
