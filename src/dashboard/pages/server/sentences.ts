import { capitalized } from '../../../base/capitalized.js';
import { agree } from '../../../base/plural.js';
import type { ServerAnswer, ServerProcess } from '../../../protocol/messages/dashboard.js';
import { count, number } from '../../text/format.js';

const RECORDS: Record<string, string> = {
  build: 'builds',
  subset: 'recordings',
  path: 'paths',
  split: 'splits',
  queue: 'queues',
  ci_run: 'CI runs',
  day: 'days',
};

/** The name of a kind of record, as people say it. */
export const recordName = (kind: string): string => RECORDS[kind] ?? kind;

/** Lists the records that a sweep deleted: "120 builds, 31 queues". */
export function deletedSentence(deleted: Record<string, number>): string {
  const parts = Object.entries(deleted).flatMap(([kind, records]) => (records > 0 ? [`${number(records)} ${recordName(kind)}`] : []));
  return parts.join(', ') || 'nothing';
}

export type Check = ServerProcess['health'][number] & { process: string | null };

/** The checks of all processes, each with the name of its process if there are several. */
export function checksOf(processes: readonly ServerProcess[]): Check[] {
  const isAlone = processes.length === 1;
  return processes.flatMap(({ name, health }) => health.map(check => ({ ...check, process: isAlone ? null : name })));
}

/** Names a check and its process. */
export const checkName = ({ name, process }: Check): string => (process === null ? name : `${name} of ${process}`);

/** Does the server work, and did clients send what could not be used? */
export function serverSentences({ processes, refused }: Pick<ServerAnswer, 'processes' | 'refused'>): string[] {
  const health = checksOf(processes);
  const failing = health.filter(({ is_ok }) => !is_ok);
  const requests = refused.reduce((sum, line) => sum + line.count, 0);
  return [
    failing.length === 0
      ? 'Everything works.'
      : `${number(failing.length)} of ${count(health.length, 'check')} ${agree(failing.length, 'fails', 'fail')}.`,
    ...failing.map(check => `${capitalized(checkName(check))}: ${check.text}.`),
    ...(requests > 0 ? [`${count(requests, 'request')} of clients could not be used since the start.`] : []),
  ];
}
