import typia from 'typia';
import { DAY_MILLISECONDS, timestamp } from '../../../base/time.js';
import { version } from '../../../base/version.js';
import { limits } from '../../../protocol/limits.js';
import type { ClientLine, RefusedLine, ServerProcess } from '../../../protocol/messages/dashboard.js';
import type { Processes } from '../../engine/ports/maintenance.js';
import type { Millis } from '../../engine/ports/store.js';
import { SWEEP_EVERY_MILLISECONDS } from '../../engine/retention.js';
import { CERTIFICATE_WARNING_DAYS } from '../../http/certificate.js';
import type { ProcessState, ServerStatus } from '../context.js';

/** Lines of each list that a process tells the others on its store. */
const TOLD_LINES = 50;
/** A process that was not seen for this time is said to be silent, and for the longer time, is left out. */
export const SILENT_PROCESS_MILLISECONDS = 35_000;
const SILENT_PROCESS_SHOWN_MILLISECONDS = 3_600_000;
/** The dashboard warns of less free space on the disk. */
const DISK_WARNING_BYTES = 1_073_741_824;

type Health = ServerProcess['health'][number];

/** Status that a process publishes to those that serve the same store. */
export interface ProcessStatus extends ServerProcess {
  sweep: { last_at: string | null; deleted: Record<string, number> };
  /** The clients seen last. */
  clients: ClientLine[];
  /** The requests refused last, each with the id of its project. */
  refused: (Omit<RefusedLine, 'project'> & { project: number | null })[];
}

/**
 * The status of this process, now.
 *
 * @param diskFreeBytes null: the store is on another machine
 */
export async function ownStatus(
  diskFreeBytes: number | null,
  { name, stateNow, clients, refused, startedAt, readiness, now }: ServerStatus,
): Promise<ProcessStatus> {
  const { httpServer, connections, requestsInFlight, jobs, queues, sweeps, snapshots, certificateExpiresAt } = stateNow();
  const { endedAt, deleted } = sweeps;
  const { rss, heapUsed } = process.memoryUsage();
  return {
    name: name(),
    version,
    node: process.version,
    http_server: httpServer,
    started_at: timestamp(startedAt),
    seen_at: null,
    health: [
      await storeHealth(readiness, diskFreeBytes === null ? 'the database answers' : 'a write reaches the disk'),
      ...(diskFreeBytes === null ? [] : [diskHealth(diskFreeBytes)]),
      sweepHealth(endedAt ?? startedAt, now()),
      ...(snapshots ? [snapshotHealth(snapshots)] : []),
      ...certificateHealth(certificateExpiresAt, now()),
    ],
    memory: { resident_bytes: rss, heap_bytes: heapUsed },
    connections,
    requests_in_flight: requestsInFlight,
    jobs: { waiting: jobs.waiting, running: jobs.running, threads: jobs.threads },
    queues: { in_memory: queues.inMemory, open: queues.open, bytes: queues.bytes },
    sweep: { last_at: endedAt === null ? null : timestamp(endedAt), deleted },
    clients: clients.list().map(client => ({ ...client, last_at: timestamp(client.last_at) })),
    refused: refused.list().map(request => ({ ...request, last_at: timestamp(request.last_at) })),
  };
}

/** The status as JSON of bounded size. */
export function encodeStatus(status: ProcessStatus): string {
  const { clients, refused } = status;
  return JSON.stringify({ ...status, clients: clients.slice(0, TOLD_LINES), refused: refused.slice(0, TOLD_LINES) });
}

const parse = typia.json.createIsParse<ProcessStatus>();

/** Statuses of the other processes, those that started first in front. A process that was not seen for an hour is left out. */
export async function otherStatuses(processes: Processes, now: Millis): Promise<ProcessStatus[]> {
  const others = await processes.others(now - SILENT_PROCESS_SHOWN_MILLISECONDS);
  const statuses = others.flatMap(({ status: text, at }) => {
    const status = parse(text);
    if (!status) return [];
    return [{ ...status, seen_at: timestamp(at), ...(now - at > SILENT_PROCESS_MILLISECONDS && { health: [silent(now - at)] }) }];
  });
  return statuses.sort((a, b) => (a.started_at < b.started_at ? -1 : 1));
}

function silent(milliseconds: number): Health {
  return {
    name: 'process',
    is_ok: false,
    text: `not seen for ${Math.floor(milliseconds / 1000)} s; has it ended, or can it not reach the database?`,
  };
}

async function storeHealth(readiness: ServerStatus['readiness'], text: string): Promise<Health> {
  try {
    await readiness.assert();
    return { name: 'store', is_ok: true, text };
  } catch (error) {
    return { name: 'store', is_ok: false, text: (error as Error).message };
  }
}

function diskHealth(freeBytes: number): Health {
  const isOk = freeBytes >= DISK_WARNING_BYTES;
  const text = isOk
    ? 'enough free space'
    : `${Math.floor(freeBytes / 2 ** 20)} MiB are free; below ${limits.diskReserveBytes / 2 ** 20} MiB nothing is recorded`;
  return { name: 'disk', is_ok: isOk, text };
}

/** @param lastAt when the last sweep ended, or the server started */
function sweepHealth(lastAt: number, now: number): Health {
  const minutes = Math.floor((now - lastAt) / 60_000);
  const isOk = now - lastAt < 2 * SWEEP_EVERY_MILLISECONDS;
  return { name: 'expiry', is_ok: isOk, text: isOk ? 'old records are deleted' : `no sweep has ended for ${minutes} minutes; see the log` };
}

function snapshotHealth({ soundAt, unsound, hasFailed }: NonNullable<ProcessState['snapshots']>): Health {
  const time = (at: Millis) => `${timestamp(at).slice(0, 16).replace('T', ' ')} UTC`;
  const parts = [
    ...(hasFailed ? ['the last attempt failed; see the log'] : []),
    ...(unsound ? [`the newest, of ${time(unsound.at)}, is not sound: ${unsound.problems ?? 'see the log'}`] : []),
    soundAt === null ? `there is ${unsound ? 'no sound one' : 'none'}` : `the newest${unsound ? ' sound one' : ''} is of ${time(soundAt)}`,
  ];
  return { name: 'snapshots', is_ok: !hasFailed && !unsound, text: parts.join('; ') };
}

function certificateHealth(expiresAt: number | null, now: number): Health[] {
  if (expiresAt === null) return [];
  const isOk = expiresAt - now > CERTIFICATE_WARNING_DAYS * DAY_MILLISECONDS;
  const text = `${expiresAt < now ? 'expired' : 'expires'} on ${timestamp(expiresAt).slice(0, 10)}${isOk ? '' : '; renew it, and send SIGHUP'}`;
  return [{ name: 'certificate', is_ok: isOk, text }];
}
