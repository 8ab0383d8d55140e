import type { Played } from './judge.js';
import type { PlayedScenario } from './play.js';
import { nameOf, type Scenario } from './scenario.js';

/** The printed report of a run: violated invariants, the scenario, and all output. */
export function reportOf(
  scenario: Scenario,
  seed: number,
  only: string | null,
  { ciRuns, operations }: PlayedScenario,
  complaints: readonly string[],
): string {
  const { number, hostilities, ciRuns: _, ...rest } = scenario;
  return [
    `run ${number} (--seed ${seed} --run ${number}${only === null ? '' : ` --only ${JSON.stringify(only)}`}), ${hostilities.join(' and ') || 'no faults'}:`,
    ...complaints.map(complaint => `* ${complaint}`),
    `  ${JSON.stringify(rest)}`,
    ...operations.map(operation => `  server: ${operation}`),
    ...ciRuns.flatMap(linesOf),
  ].join('\n');
}

function linesOf({ ciRun: { jobs, ...ciRun }, starts, verified, ran }: Played): string[] {
  return [
    `  CI run ${JSON.stringify(ciRun)}`,
    ...jobs.map(({ files: _, ...job }) => `    ${nameOf(job)}: ${JSON.stringify(job)}`),
    ...[...new Set(jobs.map(({ files }) => files))].map(
      files =>
        `    ${files.length} files of ${jobs
          .filter(job => job.files === files)
          .map(nameOf)
          .join(', ')}: ${files.join(' ')}`,
    ),
    ...starts.flatMap(({ job, number, code, printed, requests }) => [
      `    ${nameOf(job)}, start ${number}, exited with ${code}; it ran ${
        ran
          .filter(line => line.job === nameOf(job) && line.start === number)
          .map(({ path, outcome }) => (outcome === 'passed' ? path : `${path} (${outcome})`))
          .join(' ') || 'nothing'
      }`,
      ...indented([...requests, ...printed.split('\n')]),
    ]),
    `    verify exited with ${verified.code}`,
    ...indented([...verified.requests, ...verified.printed.split('\n')]),
  ];
}

function indented(lines: readonly string[]): string[] {
  return lines.filter(line => line !== '').map(line => `      ${line}`);
}
