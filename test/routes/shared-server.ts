import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { type Config, parseConfig } from '../../src/config.js';
import { openLog } from '../../src/log.js';
import { openService, type Service } from '../../src/service.js';
import { openStore, type Store } from '../../src/store/open.js';
import { createProject } from '../../src/store/projects.js';
import { createToken } from '../../src/store/tokens.js';
import { httpServer } from '../harness/http-server.js';
import { Client } from '../harness/server.js';

/** One server for all tests of a file, as starting one takes longer than most tests. */
export class SharedServer extends Client {
  #service: Service | null = null;
  #store: Store | null = null;
  #projects = 0;

  constructor(texts: { [K in keyof Config]?: string } = {}) {
    super('', 'a-token-for-tests-0123456789abcdef');
    const dataDir = mkdtempSync(join(tmpdir(), 'ballast-test-'));
    beforeAll(async () => {
      const config = parseConfig({ port: '0', httpServer, logLevel: 'silent', ...texts, dataDir, bootstrapToken: this.token });
      // Before the service: lmdb's write thread may wait for this thread within a transaction, and opening the store waits for that.
      this.#store = openStore(dataDir);
      this.#service = await openService(config, openLog(config.logLevel), { isWarm: false });
      Object.assign(this, { url: this.#service.url });
    });
    afterAll(async () => {
      await this.#service?.close();
      await this.#store?.root.close();
      rmSync(dataDir, { recursive: true, force: true });
    });
  }

  get store(): Store {
    return this.#store!;
  }

  /** A project of its own for a test that changes something: nothing of the others is in it. */
  async project(): Promise<Client> {
    const { id } = await createProject(this.#store!, `project ${++this.#projects}`, Date.now());
    return new Client(this.url, await createToken(this.#store!, id, Date.now()));
  }
}
