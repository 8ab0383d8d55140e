import type { PlayedScenario } from './play.js';
import type { FileRun } from './runner.js';
import { type Job, jobName, type Scenario } from './scenario.js';
import type { PlayedCiRun, Start } from './violations.js';

/** Formats the report of a run: violated invariants, the scenario, and all output. */
export function formatReport(
  scenario: Scenario,
  seed: number,
  { only, pieces, processes }: { only: string | null; pieces: true | undefined; processes: number },
  { ciRuns, operations }: PlayedScenario,
  violations: readonly string[],
): string {
  const { number, faults, ciRuns: _, ...rest } = scenario;
  const flags = [
    `--seed ${seed} --run ${number}`,
    ...(only === null ? [] : [`--only ${JSON.stringify(only)}`]),
    ...(pieces ? ['--pieces'] : []),
    ...(processes === 1 ? [] : [`--processes ${processes}`]),
  ].join(' ');
  return [
    `run ${number} (${flags}), ${faults.join(' and ') || 'no faults'}:`,
    ...violations.map(violation => `* ${violation}`),
    `  ${JSON.stringify(rest)}`,
    ...operations.map(operation => `  server: ${operation}`),
    ...ciRuns.flatMap(reportCiRun),
  ].join('\n');
}

function reportCiRun({ ciRun: { jobs, ...ciRun }, starts, verified, ran, proved }: PlayedCiRun): string[] {
  const lists = new Set(jobs.map(({ files }) => files));
  return [
    `  CI run ${JSON.stringify(ciRun)}`,
    ...jobs.map(({ files: _, ...job }) => `    ${jobName(job)}: ${JSON.stringify(job)}`),
    ...[...lists].map(files => reportList(files, jobs)),
    ...starts.flatMap(start => reportStart(start, ran)),
    `    verify exited with ${verified.code}`,
    ...indented([...verified.requests, ...verified.output.split('\n')]),
    ...(proved ? [`    proved exited with ${proved.code}`, ...indented([...proved.requests, ...proved.output.split('\n')])] : []),
  ];
}

function reportList(files: readonly string[], jobs: readonly Job[]): string {
  const names = jobs.filter(job => job.files === files).map(jobName);
  return `    ${files.length} files of ${names.join(', ')}: ${files.join(' ')}`;
}

function reportStart({ job, number, code, output, requests }: Start, ran: readonly FileRun[]): string[] {
  const files = ran
    .filter(run => run.job === jobName(job) && run.start === number)
    .map(({ path, outcome }) => (outcome === 'passed' ? path : `${path} (${outcome})`));
  return [
    `    ${jobName(job)}, start ${number}, exited with ${code}; it ran ${files.join(' ') || 'nothing'}`,
    ...indented([...requests, ...output.split('\n')]),
  ];
}

function indented(lines: readonly string[]): string[] {
  return lines.filter(line => line !== '').map(line => `      ${line}`);
}
