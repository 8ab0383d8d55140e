import { inspect } from 'node:util';
import { Command, Option } from 'commander';
import { exitOnSignals } from '../../test/testbed/cleanup.js';
import { positiveInteger } from '../../test/testbed/option-parsers.js';
import { showStatus } from '../../test/testbed/progress.js';
import { invariant, reportViolations, Violation } from './invariants.js';
import { cases } from './outages/cases.js';

/**
 * Takes the database from two servers, or holds up one of them, while nodes pull, split and record: in one case after another. After each,
 * every acknowledged answer is in the database as a node got it, each file of a queue was handed to one node, each run is recorded once, no
 * node gave up, and the store is sound. The seed determines what nodes do and what is drawn, but not the order of requests.
 */

interface Options {
  only?: (keyof typeof cases)[];
  seconds: number;
  seed: number;
}

async function outages({ only = Object.keys(cases) as (keyof typeof cases)[], seconds, seed }: Options): Promise<void> {
  let broken = 0;
  for (const name of only) {
    showStatus(name);
    const outcome = await cases[name](seed, seconds).catch((error: unknown) => {
      broken += 1;
      return error instanceof Violation ? `VIOLATED: ${error.message}` : `FAILED: ${inspect(error)}`;
    });
    showStatus('');
    process.stdout.write(`${name}: ${outcome}\n`);
  }
  invariant(broken === 0, `${broken} of ${only.length} cases violated an invariant (seed ${seed}): repeat one with --only`);
  process.stdout.write(`${only.length} cases (seed ${seed}): nothing acknowledged was lost, and the store is sound\n`);
}

exitOnSignals();
const program = new Command('npm run outages --')
  .description('Take the database from servers that share it, or hold up one of them, and check that nodes lose nothing.')
  .addOption(new Option('--only <case...>', 'only these cases').choices(Object.keys(cases)))
  .option('--seconds <number>', 'how long a case lasts at least, where its length is not part of it', positiveInteger, 20)
  .option('--seed <number>', 'seed of what the nodes do, and of what is drawn', positiveInteger, 1)
  .action(reportViolations('outages', outages));
await program.parseAsync();
