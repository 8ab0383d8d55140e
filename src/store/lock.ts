import { once } from 'node:events';
import { realpathSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digest } from './digest.js';

/** What a socket's path may have everywhere: Linux takes 107 bytes, macOS 103. */
const SOCKET_PATH_BYTES = 100;

/**
 * Makes this process the one server of a folder: two would hand out every queue twice. Held by a listening socket
 * in the folder, which the system closes however the process ends. Commands on the folder need no lock.
 * Returns what lets go of it; throws when another server has it.
 */
export async function lockFolder(dataDir: string): Promise<() => Promise<void>> {
  const inside = join(dataDir, 'serve.sock');
  // A long path, or a mounted folder that takes no sockets: at least one server on this machine.
  const outside = join(tmpdir(), `ballast-${digest(realpathSync(dataDir))}.sock`);
  const path = Buffer.byteLength(inside) <= SOCKET_PATH_BYTES ? inside : outside;
  const server = (await listenOn(path)) ?? (await listenOn(outside));
  if (server === 'taken') {
    throw new Error(
      `cannot take ${dataDir}: another Ballast serves this folder; stop it, or choose another with BALLAST_DATA_DIR`,
    );
  }
  if (server === null) throw new Error(`cannot take ${dataDir}: no socket can be made in it or in ${tmpdir()}`);
  return async () => {
    server.close();
    await once(server, 'close');
  };
}

/** 'taken' when somebody else listens, null when the path takes no socket. */
async function listenOn(path: string): Promise<Server | 'taken' | null> {
  for (;;) {
    const server = createServer(socket => socket.destroy()).unref();
    server.listen(path);
    try {
      await once(server, 'listening');
      return server;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') return null;
      if (await isListening(path)) return 'taken';
      // Left behind by a server that was killed.
      rmSync(path, { force: true });
    }
  }
}

async function isListening(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
