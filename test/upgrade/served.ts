import type { Store } from '../../src/server/engine/ports/store.js';
import { openLog } from '../../src/server/process/log.js';
import { openService } from '../../src/server/process/service.js';
import { parseConfig } from '../../src/server/process/settings.js';
import { serveStore } from '../../src/server/store/source.js';
import { Client } from '../harness/client.js';
import type { Clock } from '../harness/clock.js';

/** The token of the project "default" of every fixture. */
export const TOKEN = 'a-token-of-the-upgrade-fixtures-0123456789';

/** In answers that name the server, whatever port it has. */
const PUBLIC_URL = 'https://ballast.example.com';

/** Where a store is: as settings of the server name it. */
export type Place = { dataDir: string } | { databaseUrl: string };

/** A server in this process, whose time is that of a clock. */
export interface Served {
  client: Client;
  store: Store;
  /** Writes the summaries of all builds, and notes what follows from them. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export async function serve(place: Place, clock: Clock): Promise<Served> {
  const config = parseConfig({
    ...{ port: '0', logLevel: 'silent', workers: '1', bootstrapToken: TOKEN, publicUrl: PUBLIC_URL },
    ...('databaseUrl' in place && { databaseConnections: '4' }),
    ...place,
  });
  let store: Store | null = null;
  const openStore: typeof serveStore = async (...args) => (store = await serveStore(...args));
  const dependencies = { openStore, now: clock.now, uptime: clock.now, isEager: false };
  const service = await openService(config, openLog('silent'), dependencies);
  // What the last process did not write would be in some answers after a second.
  await service.summarize();
  return {
    client: new Client(service.url, TOKEN),
    store: store!,
    async settle() {
      await service.nodesNoted();
      await service.summarize();
    },
    close: () => service.close(),
  };
}
