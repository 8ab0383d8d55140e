import { randomUUID } from 'node:crypto';
import { pluralize } from '../../base/plural.js';
import type { BuildNode } from '../ci/identity.js';
import { completenessParser, type ReceivedCompleteness } from './answers.js';
import { type AnswerParser, type Api, ServerUnreachable } from './api.js';
import type { RecordedFile } from './batch-results.js';

/** The CI run to ask about: the id of a queue or of a split of the build; without both, the newest one. */
export type AskedCiRun = { node_build_id?: string; ci_build_id?: string };

/** The answer is about another request, so it proves nothing. */
export class OtherAnswer extends Error {
  readonly exitCode = 1;
}

/** All files of the CI run are recorded, and no test ran in any. */
export class NoTestRan extends Error {
  readonly exitCode = 1;
}

/** Throws OtherAnswer when the answer does not repeat what was asked: a cache, or a proxy that mixes up answers, must not pass the gate. */
export async function askCompleteness(api: Api, asked: AskedCiRun & Record<string, string>, wait: number): Promise<ReceivedCompleteness> {
  const kind = asked.node_build_id !== undefined ? 'queue' : asked.ci_build_id !== undefined ? 'split' : null;
  return askAbout(api, '/v1/builds/completeness', asked, completenessParser(kind), wait);
}

/** Sends a query. Throws OtherAnswer when the answer does not repeat it. */
export async function askAbout<T extends { about?: object }>(
  api: Api,
  path: string,
  asked: Record<string, string>,
  parse: AnswerParser<T>,
  wait?: number,
): Promise<T> {
  const about = { ...asked, request_id: randomUUID() };
  const query = new URLSearchParams({ ...about, ...(wait !== undefined && { wait: String(wait) }) });
  const answer = await api.get(`${path}?${query.toString()}`, parse, wait);
  const answered = (answer.about ?? {}) as Record<string, unknown>;
  if (Object.entries(about).every(([name, value]) => String(answered[name]) === value)) return answer;
  throw new OtherAnswer(
    `the answer is about another request: asked about ${JSON.stringify(about)}, answered about ${JSON.stringify(answered)}; let no proxy or cache answer for ${api.options.url}`,
  );
}

/**
 * Throws NoTestRan if no test ran on any node of the CI run, and this node, which has just recorded its files, was the last. Asks the server only
 * if no test ran on this node. A retried node has nothing left to run, and is no better.
 */
export async function assertTestsRan(
  api: Api,
  { node_total, branch, commit_hash }: BuildNode,
  id: AskedCiRun,
  recorded: readonly RecordedFile[],
): Promise<void> {
  if (recorded.some(({ no_test }) => !no_test)) return;
  const none =
    recorded.length === 0
      ? 'nothing was left to run for this node'
      : `no test ran in ${recorded.length === 1 ? 'the only test file' : `any of the ${pluralize(recorded.length, 'test file')}`} of this node`;
  try {
    const answer = await askCompleteness(api, { commit_hash, branch, node_total: String(node_total), ...id }, 0);
    // Without a queue or a split, it is not known what other nodes are to record.
    if (answer.kind === null || !answer.no_test_ran || answer.recorded < answer.test_files) return;
  } catch (error) {
    if (!(error instanceof ServerUnreachable)) throw error;
    throw new ServerUnreachable(`${none}, and it is not known whether one ran on another node: ${error.message}`, { cause: error });
  }
  throw new NoTestRan(
    `${none}, ${recorded.length === 0 ? 'and no test ran in any file' : 'nor in any other'} of this CI run, because each file has none, or only skipped or deselected ones: check how the command selects tests (-m, -k, -t, --grep, --tag), and start another CI run`,
  );
}
