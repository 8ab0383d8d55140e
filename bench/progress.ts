/** Tells who waits at a terminal what is being done. */
export function tell(what: string): void {
  if (process.stderr.isTTY) process.stderr.write(`${what}\n`);
}

/** How far it is of many, on one line of the terminal. */
export function tellProgress(what: string, done: number, total: number): void {
  if (!process.stderr.isTTY || (done % Math.ceil(total / 200) !== 0 && done !== total)) return;
  process.stderr.write(`\r${what}: ${done} of ${total}${done === total ? '\n' : ''}`);
}
