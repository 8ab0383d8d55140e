import { timestamp } from '../../../base/time.js';
import type { ServerAnswer } from '../../../protocol/messages/dashboard.js';
import type { Answer } from '../../http/request.js';
import type { Context } from '../context.js';
import { json } from '../json.js';
import { otherStatuses, ownStatus, type ProcessStatus } from './process-status.js';

/** GET /dashboard/server: the state of the store and of the processes that serve it, for operators. */
export async function answerServer(context: Context): Promise<Answer> {
  const { store, now } = context;
  const { maintenance } = store;
  const status = context.dashboard!.status();
  const { bytes, diskFreeBytes, records } = await maintenance.load();
  const own = await ownStatus(diskFreeBytes, status);
  const all = [own, ...(maintenance.processes ? await otherStatuses(maintenance.processes, now()) : [])];
  const backedUpAt = await store.values.get('backup');
  const names = new Map((await store.access.projects()).map(({ id, name }) => [id, name]));
  const answer: ServerAnswer = {
    processes: all.map(({ sweep: _, clients: __, refused: ___, ...process }) => process),
    store: { bytes, disk_free_bytes: diskFreeBytes, records },
    sweep: { ...sweepOf(all), retention_days: status.retentionDays },
    backup: backedUpAt === null ? null : { last_at: timestamp(backedUpAt) },
    clients: summed(
      all.flatMap(({ clients }) => clients),
      'requests',
    ),
    refused: summed(
      all.flatMap(({ refused }) => refused),
      'count',
    ).map(({ project, ...line }) => ({
      ...line,
      project: project === null ? null : (names.get(project) ?? null),
    })),
  };
  return json(200, answer);
}

/** The end of the last sweep of any process, and what all of them deleted. */
function sweepOf(all: readonly ProcessStatus[]): ProcessStatus['sweep'] {
  const deleted: Record<string, number> = {};
  for (const { sweep } of all) for (const [kind, records] of Object.entries(sweep.deleted)) deleted[kind] = (deleted[kind] ?? 0) + records;
  return { last_at: all.map(({ sweep }) => sweep.last_at).reduce((a, b) => later(a, b)), deleted };
}

/** Adds up the lines that differ only in their number and their time, the last seen first. */
function summed<Line extends { last_at: string }>(lines: readonly Line[], number: keyof Line): Line[] {
  const sums = new Map<string, Line>();
  for (const line of lines) {
    const key = JSON.stringify({ ...line, [number]: 0, last_at: '' });
    const known = sums.get(key);
    const sum = known ? (known[number] as number) + (line[number] as number) : line[number];
    sums.set(key, { ...line, [number]: sum, last_at: later(known?.last_at ?? null, line.last_at)! });
  }
  return [...sums.values()].sort((a, b) => (a.last_at < b.last_at ? 1 : -1));
}

/** ISO 8601 sorts as the times do. */
const later = (a: string | null, b: string | null) => ((a ?? '') > (b ?? '') ? a : b);
