import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from './connection.js';
import { isAnswer } from './errors.js';
import type { Settings } from './options.js';
import { within } from './pause.js';
import type { Pool } from './pool.js';
import type { Servers } from './servers.js';

/**
 * Asks each second whether the database is there, until it is closed. If the database does not answer, or takes no more writes, all
 * connections to it are cut: the statements that are under way run again on others. An error is an answer, and so is a new connection.
 */
export async function watch(servers: Servers, pool: Pool, { bounds, closing }: Settings): Promise<void> {
  let connection: Connection | null = null;
  /** Null: the database answers. */
  let silentSince: number | null = null;
  for (let failures = 0; !closing.aborted; ) {
    const address = connection?.address ?? servers.address;
    try {
      if (connection) await within(servers.ask(connection), bounds.silence);
      else {
        connection = await servers.connect(() => {});
        pool.reached();
      }
      silentSince = null;
      failures = 0;
      servers.setAway('watch', false);
    } catch (error) {
      if (closing.aborted) break;
      const isGone = connection !== null && !connection.isLost && !isAnswer(error);
      if (isAnswer(error)) silentSince = null;
      else if (silentSince === null || servers.connectedAt > silentSince) silentSince = performance.now();
      if (isGone || (silentSince !== null && performance.now() - silentSince >= bounds.silence)) {
        servers.setAway('watch', true);
        servers.leave(address);
        pool.cut(address, error);
      }
      connection?.cut(error);
      connection = null;
      failures += 1;
    }
    const pause = failures === 0 ? bounds.watch : servers.pauseAfter(failures);
    await sleep(pause, null, { signal: closing, ref: false }).catch(() => {});
  }
  connection?.end(bounds.close);
}
