import { inspect } from 'node:util';
import { Refusal } from '../../test/testbed/client.js';

/** A violated invariant of the server. The message is a sentence. */
export class Violation extends Error {}

export function invariant(holds: boolean, violation: string): void {
  if (!holds) throw new Violation(violation);
}

/**
 * Returns the action of a command that runs a check. It prints a violated invariant and a refused request as a sentence, any other error with
 * its stack and causes, and exits with 1.
 */
export function reportViolations<Options>(name: string, run: (options: Options) => Promise<void>): (options: Options) => Promise<void> {
  return async options => {
    try {
      await run(options);
    } catch (error) {
      process.stderr.write(`\n${name}: ${error instanceof Violation || error instanceof Refusal ? error.message : inspect(error)}\n`);
      process.exit(1);
    }
  };
}
