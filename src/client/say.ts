/** To whoever watches the CI job: stdout is for the files. */
export function say(...lines: readonly string[]): void {
  for (const line of lines) process.stderr.write(`ballast: ${line}\n`);
}
