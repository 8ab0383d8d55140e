import type { PlayedScenario } from './play.js';
import { jobName, type Scenario } from './scenario.js';
import type { PlayedCiRun } from './violations.js';

/** Formats the report of a run: violated invariants, the scenario, and all output. */
export function formatReport(
  scenario: Scenario,
  seed: number,
  only: string | null,
  { ciRuns, operations }: PlayedScenario,
  violations: readonly string[],
): string {
  const { number, faults, ciRuns: _, ...rest } = scenario;
  return [
    `run ${number} (--seed ${seed} --run ${number}${only === null ? '' : ` --only ${JSON.stringify(only)}`}), ${faults.join(' and ') || 'no faults'}:`,
    ...violations.map(violation => `* ${violation}`),
    `  ${JSON.stringify(rest)}`,
    ...operations.map(operation => `  server: ${operation}`),
    ...ciRuns.flatMap(reportCiRun),
  ].join('\n');
}

function reportCiRun({ ciRun: { jobs, ...ciRun }, starts, verified, ran }: PlayedCiRun): string[] {
  return [
    `  CI run ${JSON.stringify(ciRun)}`,
    ...jobs.map(({ files: _, ...job }) => `    ${jobName(job)}: ${JSON.stringify(job)}`),
    ...[...new Set(jobs.map(({ files }) => files))].map(
      files =>
        `    ${files.length} files of ${jobs
          .filter(job => job.files === files)
          .map(jobName)
          .join(', ')}: ${files.join(' ')}`,
    ),
    ...starts.flatMap(({ job, number, code, output, requests }) => [
      `    ${jobName(job)}, start ${number}, exited with ${code}; it ran ${
        ran
          .filter(line => line.job === jobName(job) && line.start === number)
          .map(({ path, outcome }) => (outcome === 'passed' ? path : `${path} (${outcome})`))
          .join(' ') || 'nothing'
      }`,
      ...indented([...requests, ...output.split('\n')]),
    ]),
    `    verify exited with ${verified.code}`,
    ...indented([...verified.requests, ...verified.output.split('\n')]),
  ];
}

function indented(lines: readonly string[]): string[] {
  return lines.filter(line => line !== '').map(line => `      ${line}`);
}
