import type { Logger } from 'pino';
import type { Processes } from '../engine/ports/maintenance.js';

/** Interval at which a process tells the others on its store its status. */
const HEARTBEAT_MILLISECONDS = 10_000;

/** Tells the other processes on a store the status of this one, now and at intervals. Returns what withdraws it. */
export function startHeartbeat(processes: Processes, status: () => Promise<string>, log: Logger): () => Promise<void> {
  let telling: Promise<void> | null = null;
  const tell = () => {
    telling ??= status()
      .then(text => processes.publish(text))
      .catch((err: unknown) => log.debug({ err }, 'could not tell the other processes the status of this one'))
      .finally(() => (telling = null));
  };
  tell();
  const timer = setInterval(tell, HEARTBEAT_MILLISECONDS);
  return async () => {
    clearInterval(timer);
    await telling;
    await processes.leave().catch(() => {});
  };
}
