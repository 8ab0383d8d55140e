import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { killAtExit, removeFolder, temporaryFolder } from '../../../bench/load/cleanup.js';
import { MAIN, type Server, startServer } from '../../../bench/load/server.js';
import type { Operation, Scenario } from './scenario.js';

/** Runs the server of a scenario, and performs what operators and machine failures do to it. */
export class Operator {
  readonly #folder = temporaryFolder();
  readonly #dataDir = join(this.#folder, 'data');
  readonly #backup = join(this.#folder, 'backup');
  readonly #clock = join(this.#folder, 'clock');
  readonly #flags: string[];
  #server: Server | null = null;
  /** The operations in progress. Requests may wait for their end. */
  #work: Promise<void> = Promise.resolve();
  #holdsRequests = true;
  #pending = 0;
  /** Finished operations, for reports. */
  readonly done: string[] = [];

  constructor({ leases, clockHours }: Pick<Scenario, 'leases' | 'clockHours'>) {
    this.#flags = ['--log-level', 'silent', '--workers', '1', ...(leases ? ['--lease-factor', '1', '--lease-grace-seconds', '0'] : [])];
    this.#setClock(clockHours);
  }

  async start(): Promise<void> {
    const clock = new URL('./clock.js', import.meta.url);
    clock.searchParams.set('file', pathToFileURL(this.#clock).href);
    this.#server = await startServer({ dataDir: this.#dataDir, flags: this.#flags, nodeArgs: ['--import', clock.href] });
  }

  /** Resolves with the URL of the server once it is up, or with null if the request must be dropped. */
  async url(): Promise<string | null> {
    if (this.#pending > 0 && !this.#holdsRequests) return null;
    await this.#work;
    return this.#server?.url ?? null;
  }

  /** Runs an operation after all earlier ones. */
  perform(operation: Operation): void {
    this.#pending += 1;
    this.#holdsRequests = operation.holdsRequests;
    this.#work = this.#work.then(async () => {
      await this.#perform(operation);
      this.done.push(
        `${operation.kind}${operation.kind.startsWith('set clock') ? ` to ${operation.hours} h` : ''} before request ${operation.at}`,
      );
      this.#pending -= 1;
    });
  }

  async stop(): Promise<void> {
    await this.#work;
    await this.#stopServer('SIGKILL');
    removeFolder(this.#folder);
  }

  async #perform({ kind, hours }: Operation): Promise<void> {
    switch (kind) {
      case 'kill':
        await this.#stopServer('SIGKILL');
        return this.start();
      case 'empty':
        await this.#stopServer('SIGKILL');
        this.#empty();
        return this.start();
      case 'back up':
        return this.#backUp();
      case 'copy':
        await this.#stopServer('SIGTERM');
        cpSync(this.#dataDir, this.#backup, { recursive: true });
        return this.start();
      case 'restore':
        await this.#stopServer('SIGKILL');
        this.#empty();
        if (existsSync(this.#backup)) cpSync(this.#backup, this.#dataDir, { recursive: true });
        return this.start();
      case 'set clock':
        return this.#setClock(hours);
      case 'set clock and kill':
        await this.#stopServer('SIGKILL');
        this.#setClock(hours);
        return this.start();
    }
  }

  #setClock(hours: number): void {
    writeFileSync(this.#clock, String(hours));
  }

  #empty(): void {
    for (const name of readdirSync(this.#dataDir)) rmSync(join(this.#dataDir, name), { recursive: true, force: true });
  }

  async #backUp(): Promise<void> {
    const child = killAtExit(
      spawn(process.execPath, [MAIN, 'backup', this.#backup, '--data-dir', this.#dataDir], { stdio: ['ignore', 'ignore', 'inherit'] }),
    );
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`cannot back up ${this.#dataDir}: "backup" exited with ${code}`);
  }

  async #stopServer(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#server?.child;
    this.#server = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }
}
