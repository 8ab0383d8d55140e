/** A promise of the server that it did not keep, as a sentence. */
export class Broken extends Error {}

export function must(holds: boolean, promise: string): void {
  if (!holds) throw new Broken(promise);
}

/** The action of a program that holds a server to its promises: tells which one is broken, and fails. */
export function holding<Options>(name: string, run: (options: Options) => Promise<void>): (options: Options) => Promise<void> {
  return async options => {
    try {
      await run(options);
    } catch (error) {
      process.stderr.write(`\n${name}: ${error instanceof Broken ? error.message : String((error as Error).stack)}\n`);
      process.exit(1);
    }
  };
}
