/** A promise of the server that it did not keep, as a sentence. */
export class Violation extends Error {}

export function invariant(holds: boolean, promise: string): void {
  if (!holds) throw new Violation(promise);
}

/** The action of a program that holds a server to its promises: tells which one is broken, and fails. */
export function reportViolations<Options>(name: string, run: (options: Options) => Promise<void>): (options: Options) => Promise<void> {
  return async options => {
    try {
      await run(options);
    } catch (error) {
      process.stderr.write(`\n${name}: ${error instanceof Violation ? error.message : String((error as Error).stack)}\n`);
      process.exit(1);
    }
  };
}
