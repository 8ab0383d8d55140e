import { Command } from 'commander';
import { exitOnSignals, temporaryFolder } from '../../test/testbed/cleanup.js';
import { requestJson } from '../../test/testbed/client.js';
import { positiveInteger } from '../../test/testbed/option-parsers.js';
import { showStatus } from '../../test/testbed/progress.js';
import { seededRandom } from '../../test/testbed/random.js';
import { startServer } from '../../test/testbed/server.js';
import { type Build, expectComplete, play, suite } from './builds.js';
import { drawFuzzedRequest } from './fuzz/fuzzed-request.js';
import { send } from './fuzz/send.js';
import { invariant, reportViolations } from './invariants.js';
import { checkStore, expectSound } from './store-check.js';

/**
 * Sends a server malformed requests (bytes, JSON, headers, order of calls) while valid builds run. The server must answer every
 * request, never with a 5xx, and the builds must succeed. The seed determines what is sent.
 */

interface Options {
  requests: number;
  seed: number;
  connections: number;
}

/** Plays a valid build. */
async function playValidBuild(url: string, number: number): Promise<void> {
  const mode = number % 2 === 0 ? 'queue' : 'test queue';
  const build: Build = { key: { commit_hash: `valid-${number}`, branch: 'valid', node_total: 2 }, mode, files: suite('valid', 40) };
  await play((path, body) => requestJson(url, path, body), build);
  await expectComplete(path => requestJson(url, path), build);
}

async function fuzz({ requests, seed, connections }: Options): Promise<void> {
  const server = await startServer({ dataDir: temporaryFolder() });
  const { host, port } = new URL(server.url);
  const statuses = new Map<string, number>();
  let sent = 0;
  const senders = Array.from({ length: connections }, async (_, sender) => {
    const random = seededRandom(seed * 1000 + sender);
    while (sent < requests) {
      sent += 1;
      const { status: received } = await send(Number(port), drawFuzzedRequest(random, host));
      const status = String(received ?? 'closed');
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (sent % 500 === 0) showStatus(`${sent} of ${requests} requests`);
    }
  });
  let builds = 0;
  const playing = (async () => {
    do await playValidBuild(server.url, builds++);
    while (sent < requests);
  })();
  await Promise.all([...senders, playing]);
  invariant(server.child.exitCode === null && server.child.signalCode === null, 'the server exited during the test');
  await server.stop();
  expectSound(await checkStore(server.dataDir));
  showStatus('');
  const answers = [...statuses].sort().map(([status, count]) => `${count} x ${status}`);
  process.stdout.write(`${sent} requests (seed ${seed}): ${answers.join(', ')}; ${builds} valid builds succeeded; store sound\n`);
}

exitOnSignals();
const program = new Command('npm run fuzz --')
  .description('Send malformed requests to a server while valid builds run, and check its answers, the builds and the store.')
  .option('--requests <number>', 'number of requests', positiveInteger, 100_000)
  .option('--seed <number>', 'seed of the requests', positiveInteger, 1)
  .option('--connections <number>', 'number of concurrent connections', positiveInteger, 16)
  .action(reportViolations('fuzz', fuzz));
await program.parseAsync();
