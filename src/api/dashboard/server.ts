import type { Answer } from '../../http/request.js';
import { limits } from '../../limits.js';
import { DAY_MILLISECONDS, timestamp } from '../../time.js';
import { version } from '../../version.js';
import type { Context } from '../context.js';
import { json } from '../json.js';
import type { ServerAnswer } from '../messages/dashboard.js';

type Health = ServerAnswer['health'][number];

/** GET /dashboard/server: the state of this server, for operators. */
export async function answerServer(context: Context): Promise<Answer> {
  const { now } = context;
  const { stateNow, clients, refused, startedAt, retentionDays } = context.dashboard!.status();
  const { httpServer, connections, requestsInFlight, jobs, queues, store, sweeps, certificateExpiresAt } = await stateNow();
  const { bytes, diskFreeBytes, records } = store;
  const { waiting, running, threads } = jobs;
  const { inMemory, open, bytes: queueBytes } = queues;
  const { endedAt, deleted } = sweeps;
  const { rss, heapUsed } = process.memoryUsage();
  const [names, backedUpAt] = [await projectNames(context), await context.store.maintenance.backedUpAt()];
  const health = [
    await storeHealth(context),
    ...(diskFreeBytes === null ? [] : [diskHealth(diskFreeBytes)]),
    sweepHealth(endedAt ?? startedAt, now()),
    ...certificateHealth(certificateExpiresAt, now()),
  ];
  const answer: ServerAnswer = {
    version,
    node: process.version,
    http_server: httpServer,
    started_at: timestamp(startedAt),
    health,
    store: { bytes, disk_free_bytes: diskFreeBytes, records },
    memory: { resident_bytes: rss, heap_bytes: heapUsed },
    connections,
    requests_in_flight: requestsInFlight,
    sweep: { last_at: endedAt === null ? null : timestamp(endedAt), deleted, retention_days: retentionDays },
    backup: backedUpAt === null ? null : { last_at: timestamp(backedUpAt) },
    jobs: { waiting, running, threads },
    queues: { in_memory: inMemory, open, bytes: queueBytes },
    clients: clients.list().map(client => ({ ...client, last_at: timestamp(client.last_at) })),
    refused: refused.list().map(({ project, last_at, ...request }) => ({
      ...request,
      last_at: timestamp(last_at),
      project: project === null ? null : (names.get(project) ?? null),
    })),
  };
  return json(200, answer);
}

async function projectNames({ store }: Context): Promise<Map<number, string>> {
  return new Map((await store.access.projects()).map(({ id, name }) => [id, name]));
}

async function storeHealth({ readiness }: Context): Promise<Health> {
  try {
    await readiness.assert();
    return { name: 'store', is_ok: true, text: 'a write reaches the disk' };
  } catch (error) {
    const text = (error as Error).message;
    return { name: 'store', is_ok: false, text };
  }
}

function diskHealth(freeBytes: number): Health {
  const isOk = freeBytes >= limits.diskWarningBytes;
  const text = isOk
    ? 'enough free space'
    : `${Math.floor(freeBytes / 2 ** 20)} MiB are free; below ${limits.diskReserveBytes / 2 ** 20} MiB nothing is recorded`;
  return { name: 'disk', is_ok: isOk, text };
}

/** @param lastAt when the last sweep ended, or the server started */
function sweepHealth(lastAt: number, now: number): Health {
  const minutes = Math.floor((now - lastAt) / 60_000);
  const isOk = now - lastAt < 2 * limits.sweepEveryMilliseconds;
  return { name: 'expiry', is_ok: isOk, text: isOk ? 'old records are deleted' : `no sweep has ended for ${minutes} minutes; see the log` };
}

function certificateHealth(expiresAt: number | null, now: number): Health[] {
  if (expiresAt === null) return [];
  const isOk = expiresAt - now > limits.certificateWarningDays * DAY_MILLISECONDS;
  const text = `${expiresAt < now ? 'expired' : 'expires'} on ${timestamp(expiresAt).slice(0, 10)}${isOk ? '' : '; renew it, and send SIGHUP'}`;
  return [{ name: 'certificate', is_ok: isOk, text }];
}
