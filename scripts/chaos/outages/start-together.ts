import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase, statement } from '../../../test/testbed/postgresql.js';
import { MAIN, startServer } from '../../../test/testbed/server.js';
import { checkDatabase } from '../database-check.js';
import { invariant } from '../invariants.js';
import { neededCluster } from '../needed-cluster.js';
import { expectSound } from '../store-check.js';

const SERVERS = 3;
/** Time that another process may take a revoked token for valid; and some time to ask. */
const REVOKED_MILLISECONDS = 5000 + 1000;

/** Starts servers on an empty database at once, again and again. One makes the project, and prints its token. */
export async function startTogether(_seed: number, seconds: number): Promise<string> {
  const cluster = await neededCluster();
  const until = performance.now() + 1000 * seconds;
  let starts = 0;
  let revoked = 0;
  do {
    const database = await createDatabase(cluster.url, `start_${starts}`);
    const servers = await Promise.all(
      Array.from({ length: SERVERS }, () => startServer({ database, token: null, flags: ['--workers', '1'] })),
    );
    const tokens = servers.flatMap(({ stdout }) => /\n([0-9a-f]{32,})\n/.exec(stdout())?.[1] ?? []);
    invariant(tokens.length === 1, `${SERVERS} servers that started at once on an empty database printed ${tokens.length} tokens`);
    const projects = await statement(database, 'select id from projects');
    invariant(projects.length === 1, `they made ${projects.length} projects`);
    const status = (url: string) => ask(url, tokens[0]!);
    for (const { url } of servers) invariant((await status(url)) === 200, 'a server refuses the token that another printed');
    await command(database, 'token', 'revoke', tokens[0]!);
    const from = performance.now();
    for (const { url } of servers)
      while ((await status(url)) === 200) {
        invariant(performance.now() - from < REVOKED_MILLISECONDS, `a revoked token is still valid after ${REVOKED_MILLISECONDS} ms`);
        await sleep(50);
      }
    revoked = Math.max(revoked, performance.now() - from);
    expectSound(await checkDatabase(database));
    await Promise.all(servers.map(server => server.stop('SIGKILL')));
    starts += 1;
  } while (performance.now() < until);
  await cluster.stop();
  return `${SERVERS} servers started at once on ${starts} empty databases; a revoked token was refused after ${Math.round(revoked)} ms`;
}

async function ask(url: string, token: string): Promise<number> {
  return (await fetch(`${url}/v1/builds`, { headers: { 'SERVICE-TEST-SUITE-TOKEN': token } })).status;
}

async function command(database: string, ...args: string[]): Promise<void> {
  const child = spawn(process.execPath, [MAIN, ...args], { env: { ...process.env, BALLAST_DATABASE_URL: database }, stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`"${args.join(' ')}" exited with ${code}`);
}
