import typia from 'typia';
import { durationText } from '../../base/duration.js';
import { pluralize } from '../../base/plural.js';
import { print, printToStderr } from '../../base/terminal.js';
import { accepting, type Checked } from '../../node/client/answers.js';
import { Api } from '../../node/client/api.js';
import type { FlakyAnswer, FlakyCase, FlakyFile } from '../../protocol/answers/flaky.js';
import { priceText } from '../../protocol/price.js';
import { exitCodes } from '../process/exit.js';
import type { ClientOptions } from './options.js';
import { tableLines } from './text/table.js';

export interface FlakyOptions extends ClientOptions {
  limit: number;
  json?: true;
}

/** A newer server may have other states. */
type ReceivedFile = Omit<FlakyFile, 'state' | 'cases'> & { state: string; cases: Pick<FlakyCase, 'name' | 'flakes'>[] };
type ReceivedFlaky = Omit<FlakyAnswer, 'files' | 'recent'> & { files: ReceivedFile[] };

// Beside its only use: what answers.ts checks is in each plugin of a runner, too.
const parseFlaky = accepting<ReceivedFlaky>(200, typia.createIs<Checked<ReceivedFlaky>>() as never);

const HEAD = ['state', 'rate', '90 %', 'flakes', 'ran again', 'cost', 'later', 'took', 'nodes', 'test file'];

/** Prints the flaky files of the project by what they cost. Exit code 3: the server could not be asked. */
export async function flaky(options: FlakyOptions): Promise<void> {
  try {
    const answer = await new Api(options).get(`/v1/flaky?limit=${options.limit}`, parseFlaky);
    if (options.json) print(JSON.stringify(answer));
    else for (const line of linesOf(answer)) print(line);
  } catch (error) {
    if (!(error instanceof Error && 'exitCode' in error)) throw error;
    printToStderr(`cannot list the flaky files: ${error.message}`);
    process.exitCode = exitCodes.server;
  }
}

function linesOf({ files, file_count, since, tells_outcomes, outages }: ReceivedFlaky): string[] {
  if (!tells_outcomes) return ['the clients of the newest builds do not tell which test files failed, so none is known to be flaky'];
  const of = since === null ? '' : ` since ${since.slice(0, 10)}`;
  if (files.length === 0) return [`no flaky test file is known${of}`, ...outages.map(outageText)];
  const rows = [HEAD, ...files.map(cellsOf)];
  const table = tableLines(rows, column => (column < HEAD.length - 1 ? 'start' : null));
  const left = file_count - files.length;
  return [...table, ...(left > 0 ? [`and ${pluralize(left, 'test file')} that cost less: give --limit`] : []), ...outages.map(outageText)];
}

function cellsOf(file: ReceivedFile): string[] {
  const { state, clean, failing_since, rate, low, high, flakes, seconds, cost, later, slowdown, nodes } = file;
  const isHealing = clean && (state === 'healing' || state === 'healed');
  const more = failing_since
    ? ` since ${failing_since.commit_hash.slice(0, 10)}`
    : isHealing
      ? `, clean ${clean.builds} of ${clean.of}`
      : '';
  const known = flakes > 0 ? [percent(rate), `${percent(low)} to ${percent(high)}`] : ['-', '-'];
  const time = (each: number) => (each > 0 ? durationText(each) : '-');
  return [
    `${state}${more}`,
    ...known,
    String(flakes),
    time(seconds),
    cost ? priceText(cost) : '-',
    time(later),
    slowdown === null ? '-' : `${slowdown.toFixed(1)} x`,
    nodes.join(' ') || '-',
    fileText(file),
  ];
}

/** The file with what is known of its flakes: `a.test.js (logs in 2, logs out 1; after b.test.js in 2 of 3)`. */
function fileText({ path, flakes, before, cases }: ReceivedFile): string {
  const known = [
    cases.map(each => `${each.name} ${each.flakes}`).join(', '),
    before && `after ${before.path} in ${before.flakes} of ${flakes}`,
  ];
  const text = known.filter(Boolean).join('; ');
  return text === '' ? path : `${path} (${text})`;
}

function percent(part: number): string {
  return `${(100 * part).toFixed(1)} %`;
}

function outageText({ at, commit_hash, branch, node_index, files }: ReceivedFlaky['outages'][number]): string {
  const where = node_index === null ? 'together' : `on node ${node_index}`;
  return `outage: ${pluralize(files, 'test file')} failed ${where} at commit ${commit_hash.slice(0, 10)} of ${branch}, ${at.slice(0, 16).replace('T', ' ')}`;
}
