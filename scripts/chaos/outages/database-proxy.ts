import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeFolder, temporaryFolder } from '../../../test/testbed/cleanup.js';
import type { Random } from '../../../test/testbed/random.js';

const SOCKET = '.s.PGSQL.5432';
const HELD_MILLISECONDS = 3000;
/** Messages that begin what a client sends for a statement: Parse and Bind. */
const STATEMENT = [0x50, 0x42];

/** Stands between servers and their database, behind a socket in a folder of its own. */
export class DatabaseProxy {
  readonly folder = temporaryFolder();
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Probability that the connection is cut when the answer to a statement comes, so that the statement took effect. */
  cuts = 0;
  /** Probability that the connection is cut before a statement, which reaches the database 3 s later. */
  holds = 0;
  /** Delay of each answer on its way, in milliseconds. */
  delay = 0;
  done = 0;

  constructor(
    readonly database: string,
    readonly random: Random,
  ) {
    this.#server = createServer(client => this.#serve(client));
  }

  async listen(): Promise<void> {
    this.#server.listen(join(this.folder, SOCKET));
    await once(this.#server, 'listening');
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    removeFolder(this.folder);
  }

  #serve(client: Socket): void {
    const database = connect(join(this.database, SOCKET));
    let hasStatement = false;
    let isCut = false;
    const cut = () => {
      this.done += 1;
      isCut = true;
      client.destroy();
    };
    client.on('data', chunk => {
      if (isCut) return;
      const isStatement = STATEMENT.includes(chunk[0]!);
      hasStatement ||= isStatement;
      if (isStatement && this.random() < this.holds) {
        cut();
        void sleep(HELD_MILLISECONDS).then(() => database.end(chunk));
      } else database.write(chunk);
    });
    database.on('data', chunk => {
      if (isCut) return;
      if (hasStatement && this.random() < this.cuts) {
        cut();
        database.destroy();
      } else if (this.delay > 0) setTimeout(() => client.write(chunk), this.delay);
      else client.write(chunk);
    });
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      this.#sockets.add(socket);
      // The other side sees the end of the connection.
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#sockets.delete(socket);
        if (!isCut) other.destroy();
      });
    }
  }
}
