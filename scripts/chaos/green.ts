import { Command, Option } from 'commander';
import { exitOnSignals } from '../../test/testbed/cleanup.js';
import { inParallel } from '../../test/testbed/in-parallel.js';
import { positiveInteger } from '../../test/testbed/option-parsers.js';
import { showStatus } from '../../test/testbed/progress.js';
import { drawScenario } from './green/draw.js';
import { pieceFaults } from './green/draw-pieces.js';
import { departures, faults } from './green/faults.js';
import { FAILURES_ARE_MUTED, mutedViolationsOf } from './green/mutes.js';
import type { Processes } from './green/operator.js';
import { play } from './green/play.js';
import { proofViolationsOf } from './green/proofs.js';
import { formatReport } from './green/report.js';
import { faultlessViolationsOf, isGreen, isStaffed, type PlayedCiRun, staffedViolationsOf, violationsOf } from './green/violations.js';
import { invariant, reportViolations } from './invariants.js';
import { neededCluster } from './needed-cluster.js';

/**
 * Plays CI runs with the real programs, a proxy that injects faults and an operator that disturbs the server, and checks three invariants.
 * If every node of a CI run exits with 0, every listed test file ran. If `verify` exits with 0, every file was run and recorded since the
 * CI run began. If nothing happens but that nodes of a queue leave, and one stays, that one runs the files of the others. Where nodes run
 * long files in pieces, the same is true for every test case of these. Where nodes retry files, a node that exits with 0 had no failure but those
 * of files that passed later, and the gate names these. Where `proved` is asked, and a CI run is started again with
 * `queue --proved`, only what passed in the same tree is proved. Where the repository mutes failures, a green gate names each of them, and no
 * other one is green. The seed determines the faults, but not the order of requests. With
 * several servers each request is dealt to any of them.
 */

interface Options {
  runs: number;
  run?: number;
  seed: number;
  only?: string | null;
  pieces?: true;
  atOnce: number;
  processes: number;
}

async function green({ runs, run, seed, only = null, pieces, atOnce, processes }: Options): Promise<void> {
  const cluster = processes === 1 ? null : await neededCluster();
  const servers: Processes = cluster ? { number: processes, cluster: cluster.url } : { number: 1 };
  const numbers = run === undefined ? Array.from({ length: runs }, (_, i) => i + 1) : [run];
  const faults: string[] = [];
  const ciRuns: PlayedCiRun[] = [];
  let [played, broken, complete] = [0, 0, 0];
  await inParallel(atOnce, numbers, async number => {
    const scenario = drawScenario(seed, number, only, pieces);
    const result = await play(scenario, seed, servers);
    const isFaultless = scenario.faults.length === 0;
    const isCalm =
      scenario.faults.join() === FAILURES_ARE_MUTED && scenario.ciRuns.every(({ jobs }) => jobs.every(({ runner }) => runner.hasReport));
    const staffed = scenario.faults.every(name => departures.has(name)) ? result.ciRuns.filter(isStaffed) : [];
    const violations = [
      ...result.ciRuns.flatMap(violationsOf),
      ...(isFaultless ? result.ciRuns.flatMap(faultlessViolationsOf) : []),
      ...staffed.flatMap(staffedViolationsOf),
      ...result.ciRuns.flatMap(ciRun => mutedViolationsOf(ciRun, isCalm)),
      ...result.ciRuns.flatMap(ciRun => proofViolationsOf(ciRun, isFaultless)),
    ];
    if (!isFaultless) complete += staffed.length;
    faults.push(...(isFaultless ? ['none'] : scenario.faults));
    ciRuns.push(...result.ciRuns);
    played += 1;
    if (violations.length > 0) broken += 1;
    showStatus(`${played} of ${numbers.length} runs, ${broken} broken`);
    if (violations.length > 0 || run !== undefined) {
      showStatus('');
      process.stdout.write(`${formatReport(scenario, seed, { only, pieces, processes }, result, violations)}\n`);
    }
  });
  await cluster?.stop();
  showStatus('');
  const verified = ciRuns.filter(ciRun => ciRun.verified.code === 0);
  const asked = ciRuns.filter(({ proved }) => proved);
  const retrying = ciRuns.filter(({ ciRun, ran }) => ciRun.retriesFiles && ran.some(({ outcome }) => outcome === 'failed'));
  const overcame = retrying.filter(isGreen);
  const leaving = ciRuns.filter(({ ciRun }) => ciRun.leavesOutProved);
  process.stdout.write(
    `${played} runs (seed ${seed}${processes === 1 ? '' : `, ${processes} processes`}) of ${ciRuns.length} CI runs: all nodes exited with 0 in ${ciRuns.filter(isGreen).length}, ` +
      `verify in ${verified.length}, and other nodes ran all files of those that left in ${complete}; with pieces of files ${ciRuns.filter(({ evidence }) => evidence.hasPieces).length}; ` +
      `proved in ${asked.filter(({ proved }) => proved!.code === 0).length} of ${asked.length} that were asked, ` +
      `${leaving.filter(isGreen).length} of ${leaving.length} green that left out what was proved; ` +
      `${overcame.length} of ${retrying.length} green in which a file was retried; faults: ${countNames(faults)}\n`,
  );
  invariant(
    broken === 0,
    `${broken} of ${played} runs violated an invariant: see the reports above, and repeat one with --seed ${seed} --run N`,
  );
  process.stdout.write('every green CI run ran all its test files\n');
}

/** Lists the distinct names in order, each with its count. */
function countNames(names: readonly string[]): string {
  return [...new Set(names)]
    .sort()
    .map(name => `${name} ${names.filter(other => other === name).length}`)
    .join(', ');
}

exitOnSignals();
const program = new Command('npm run green --')
  .description('Play CI runs with faults, and report every run that is green although a test file did not run.')
  .option('--runs <number>', 'number of runs', positiveInteger, 200)
  .option('--run <number>', 'play only this run, and print all output of its nodes', positiveInteger)
  .option('--seed <number>', 'seed of the faults', positiveInteger, 1)
  .addOption(new Option('--only <kind>', 'play only this kind of fault').choices([...Object.keys(faults), ...Object.keys(pieceFaults)]))
  .option('--pieces', 'have nodes run long files in pieces in every run, not in a quarter of them')
  .option('--at-once <number>', 'number of concurrent runs', positiveInteger, 2)
  .option('--processes <number>', 'number of servers: one on a folder, or more on a PostgreSQL database', positiveInteger, 1)
  .action(reportViolations('green', green));
await program.parseAsync();
