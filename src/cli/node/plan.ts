import { durationText } from '../../base/duration.js';
import { agree, pluralize } from '../../base/plural.js';
import { print, printData, printToStderr } from '../../base/terminal.js';
import { UsageError } from '../../base/usage-error.js';
import { identify } from '../../node/ci/identity.js';
import { NO_BUILD, parsePlan, parsePlanOfBuild } from '../../node/client/answers.js';
import { Api, ServerUnreachable } from '../../node/client/api.js';
import { listTestFiles } from '../../node/client/test-files.js';
import type { PlanAnswer } from '../../protocol/answers/what-if.js';
import { priceText } from '../../protocol/price.js';
import { exitCodes } from '../process/exit.js';
import type { ClientOptions } from './options.js';
import { tableLines } from './text/table.js';

export interface PlanOptions extends ClientOptions {
  stdin?: true;
  nodes?: string;
  /** Seconds. */
  within?: number;
  mode: 'queue' | 'split';
  /** Seconds. */
  startSpread?: number;
  pullCost?: number;
  setup?: number;
  /** Nodes to start when their number is not known. */
  default?: number;
  format?: 'github' | 'gitlab' | 'buildkite';
  /** The file of a GitLab repository that defines the job. */
  template: string;
  json?: true;
}

/** A suite may be large, and the server plays it 64 times. */
const TIMEOUT_SECONDS = 60;

/**
 * Prints how long the test files take with each number of nodes, or how many nodes to start. Exit code 1: none is enough, or, without a
 * default, the number is not known.
 */
export async function plan(globs: readonly string[], command: readonly string[], options: PlanOptions): Promise<void> {
  const { format, within, json } = options;
  if (format === 'buildkite' && command.length === 0)
    throw new UsageError([
      'the step has no command: give it after --, as in ballast plan --format buildkite -- node ballast.mjs queue ...',
    ]);
  if (format !== 'buildkite' && command.length > 0)
    throw new UsageError([`plan runs no command: leave ${command[0]} out, or give --format buildkite`]);
  if (options.default !== undefined && !format && within === undefined)
    throw new UsageError(['--default is the number of nodes to start: give --within or --format, too']);
  const { branch } = identify(['branch'], options);
  const paths = globs.length > 0 || options.stdin ? await listTestFiles(globs, options.stdin === true) : null;
  const answer = await ask(branch, paths, options);
  const hasPlan = typeof answer !== 'string';
  if (json && hasPlan) print(JSON.stringify(answer));
  if (!format && within === undefined && hasPlan) {
    if (!json) for (const line of table(answer)) print(line);
    return;
  }
  const nodes = nodesToStart(answer, options);
  if (nodes === null) process.exitCode = exitCodes.failed;
  else if (format) printData(pipeline(format, nodes, command, options.template));
  else if (!json) print(String(nodes));
}

/** The number of nodes to start; null: none is enough, or nobody can know it. Says on stderr why, and what the number rests on. */
function nodesToStart(answer: PlanAnswer | string, options: PlanOptions): number | null {
  const unknown = typeof answer === 'string' ? answer : guessedText(answer);
  if (typeof answer === 'string' || isMostlyGuessed(answer)) {
    const { default: byDefault, json } = options;
    const advice = json ? '' : ': give --default N, the nodes to start until builds are recorded';
    printToStderr(
      byDefault === undefined
        ? `the number of nodes is not known, because ${unknown}${advice}`
        : `${unknown}: --default, ${pluralize(byDefault, 'node')}`,
    );
    return byDefault ?? null;
  }
  if (unknown !== null) printToStderr(`${unknown}, and ${agree(answer.unknown_files, 'counts', 'count')} with a guess`);
  const { within } = options;
  if (within === undefined) return usefulOf(answer);
  if (answer.nodes_within === null) printToStderr(`no number of nodes ends within ${durationText(within)}: ${reasonOf(answer, within)}`);
  return answer.nodes_within;
}

const isMostlyGuessed = ({ files, unknown_files }: PlanAnswer) => 2 * unknown_files > files;

/** Null: every file was measured. */
function guessedText({ files, unknown_files }: PlanAnswer): string | null {
  if (unknown_files === 0) return null;
  return `${unknown_files} of ${pluralize(files, 'test file')} ${agree(unknown_files, 'was', 'were')} never measured`;
}

/** The useful number, or the nearest one that was played. */
function usefulOf({ variants, useful_nodes }: PlanAnswer): number {
  return Math.min(Math.max(useful_nodes, variants[0]!.nodes), variants.at(-1)!.nodes);
}

/** Asks for a plan. Returns why there is none if the project has no build, or with a default if the server gives no answer. */
async function ask(branch: string, paths: readonly string[] | null, options: PlanOptions): Promise<PlanAnswer | string> {
  const { nodes, within, mode, startSpread, pullCost, setup } = options;
  const message = {
    branch,
    mode,
    ...(nodes !== undefined && { nodes }),
    ...(within !== undefined && { within }),
    ...(startSpread !== undefined && { start_spread: startSpread }),
    ...(pullCost !== undefined && { pull_cost: pullCost }),
    ...(setup !== undefined && { setup }),
    ...(paths && { test_files: paths.map(path => ({ path })) }),
  };
  try {
    const api = new Api({ ...options, timeoutSeconds: TIMEOUT_SECONDS });
    // Of a request with a list, the same answer refuses the list.
    const answer = await api.post('/v1/plan', message, paths ? parsePlan : parsePlanOfBuild);
    return answer === NO_BUILD ? 'the project has no build' : answer;
  } catch (error) {
    if (error instanceof ServerUnreachable && options.default !== undefined) return error.message;
    throw error;
  }
}

function reasonOf({ variants, longest }: PlanAnswer, within: number): string {
  if (longest && longest.seconds > within)
    return `${longest.path} alone takes ${durationText(longest.seconds)}; divide it, or run it in pieces: queue --pieces`;
  const best = variants.reduce((first, other) => (other.wall < first.wall ? other : first));
  return `${pluralize(best.nodes, 'node')} would take ${durationText(best.wall)}, the least of ${describeNodes(variants)}`;
}

function describeNodes(variants: PlanAnswer['variants']): string {
  const [first, last] = [variants[0]!, variants.at(-1)!];
  return first === last ? 'those asked for' : `${first.nodes} to ${last.nodes} nodes`;
}

function table({ variants, useful_nodes, files, unknown_files, total, longest, assumptions }: PlanAnswer): string[] {
  const hasPrice = variants.some(({ price }) => price);
  const rows = variants.map(({ nodes, wall, job_seconds, price, ratio, bound_by_file }) => [
    nodes === useful_nodes ? `* ${nodes}` : String(nodes),
    durationText(wall),
    (job_seconds / 60).toFixed(1),
    ...(hasPrice ? [price ? priceText(price) : ''] : []),
    `${ratio.toFixed(3)}${bound_by_file ? ' (longest file)' : ''}`,
  ]);
  const head = ['nodes', 'wall time', 'node-minutes', ...(hasPrice ? ['cost'] : []), 'ratio to the floor'];
  const last = head.length - 1;
  const isMarked = variants.some(({ nodes }) => nodes === useful_nodes);
  const guessed = unknown_files > 0 ? `, ${unknown_files} of them never measured` : '';
  return [
    `${pluralize(files, 'test file')}${guessed}: ${durationText(total)} in all${longest ? `, the longest is ${longest.path} with ${durationText(longest.seconds)}` : ''}`,
    '',
    ...tableLines([head, ...rows], column => (column < last ? 'end' : null)),
    '',
    `${isMarked ? '* more' : 'More'} than ${pluralize(useful_nodes, 'node brings', 'nodes bring')} little${isMarked ? '' : '.'}`,
    ...assumptions.sentences,
  ];
}

/** Writes the YAML with which a CI system starts a number of nodes. Strings are written as in JSON, which is YAML. */
function pipeline(format: NonNullable<PlanOptions['format']>, nodes: number, command: readonly string[], template: string): string {
  // A matrix for `fromJSON` of GitHub Actions: a job for each node.
  if (format === 'github') return `${JSON.stringify({ node_index: [...Array(nodes).keys()], node_total: [nodes] })}\n`;
  // A child pipeline. The template defines the hidden job .tests.
  if (format === 'gitlab')
    return ['include:', `  - local: ${JSON.stringify(template)}`, 'tests:', '  extends: .tests', `  parallel: ${nodes}`, ''].join('\n');
  // A step for `buildkite-agent pipeline upload`, which replaces variables; $$ is a dollar sign.
  const text = command.map(shellWord).join(' ').replaceAll('$', '$$$$');
  return ['steps:', '  - label: "tests"', `    command: ${JSON.stringify(text)}`, `    parallelism: ${nodes}`, ''].join('\n');
}

/** Quotes an argument for a POSIX shell, unless it needs no quotes. */
function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
