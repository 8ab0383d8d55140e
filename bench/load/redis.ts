import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';
import { killAtExit, removeFolder, temporaryFolder, terminate } from '../../test/testbed/cleanup.js';
import { freePort } from '../../test/testbed/free-port.js';

/** A queue in Redis, the usual way to build what Ballast is: a peer for pulls. */

/** Takes a test from its queue, notes the end of its lease and its owner, and returns it. */
const POP = `local test = redis.call('RPOP', KEYS[1])
if not test then return '' end
redis.call('ZADD', KEYS[2], ARGV[1], test)
redis.call('HSET', KEYS[3], test, ARGV[2])
return test`;

export interface Redis {
  version: string;
  url: string;
  pid: number;
  /** Fills queues with tests. Returns a pop of one test of each. */
  fill(queues: number, tests: readonly string[]): string[];
  stop(): Promise<void>;
}

/** The version of the installed redis-server; null: there is none. */
export function redisVersion(): string | null {
  const { status, stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' });
  return status === 0 ? (/v=(\S+)/.exec(stdout)?.[1] ?? '?') : null;
}

/** Starts a server that flushes each write to disk before it answers (appendfsync always). */
export async function startRedis(version: string): Promise<Redis> {
  const folder = temporaryFolder();
  const port = await freePort();
  const place = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
  const flags = [...place, '--save', '', '--appendonly', 'yes', '--appendfsync', 'always'];
  const child = killAtExit(spawn('redis-server', flags, { stdio: ['ignore', 'pipe', 'inherit'] }));
  for await (const line of createInterface(child.stdout!)) if (line.includes('Ready to accept connections')) break;
  child.stdout!.resume();
  send(port, [command('SCRIPT', 'LOAD', POP)]);
  const sha = createHash('sha1').update(POP).digest('hex');
  return {
    version,
    url: `redis://127.0.0.1:${port}`,
    pid: child.pid!,
    fill(queues, tests) {
      const names = Array.from({ length: queues }, (_, queue) => `build-${queue}`);
      const pushes = names.map(name => command('LPUSH', `${name}:queue`, ...tests));
      send(port, pushes);
      return names.map((name, i) =>
        command('EVALSHA', sha, '3', `${name}:queue`, `${name}:running`, `${name}:owners`, '1763800000000', `node-${i % 8}`),
      );
    },
    async stop() {
      await terminate(child);
      removeFolder(folder);
    },
  };
}

function command(...words: string[]): string {
  return `*${words.length}\r\n${words.map(word => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
}

/** Sends commands in one go. Throws unless each is answered without an error. */
function send(port: number, commands: readonly string[]): void {
  const { stdout, stderr, error } = spawnSync('redis-cli', ['-p', String(port), '--pipe'], { input: commands.join(''), encoding: 'utf8' });
  if (error) throw error;
  if (!stdout.includes(`errors: 0, replies: ${commands.length}\n`)) throw new Error(`Redis answered: ${stdout}${stderr}`);
}
