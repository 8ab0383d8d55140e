import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import { limits } from '../src/protocol/limits.js';
import { openLog } from '../src/server/process/log.js';
import { openService } from '../src/server/process/service.js';
import { parseConfig } from '../src/server/process/settings.js';
import { removeFolder, temporaryFolder } from '../test/testbed/cleanup.js';
import { numberParser } from '../test/testbed/option-parsers.js';
import { Build } from './replay/build.js';
import { toJson, toText } from './replay/report.js';
import { readTimings } from './replay/timings.js';

/** Replays a build with recorded times over HTTP, in regular mode and in queue mode, and prints how evenly the nodes finish. */

interface Options {
  nodes: number;
  pullCost: number;
  url?: string;
  token?: string;
  json?: true;
}

const nodes = numberParser(
  value => Number.isInteger(value) && value >= 1 && value <= limits.nodesPerBuild,
  `It must be a whole number from 1 to ${limits.nodesPerBuild}.`,
);
const notNegative = numberParser(value => value >= 0, 'It must be a number of seconds, 0 or more.');

const program = new Command('npm run replay --')
  .description('Record times as a build, split its files in regular mode and in queue mode, and show how evenly the nodes finish.')
  .argument('<file>', 'JSON: {"timings": {path: seconds}} or {path: seconds}')
  .option('--nodes <number>', 'number of parallel CI nodes', nodes, 8)
  .option('--pull-cost <seconds>', 'seconds that each pull costs a simulated node', notNegative, 2)
  .option('--url <url>', 'URL of a running server, such as http://127.0.0.1:8080 (default: start one for this run)')
  .option('--token <token>', 'test-suite token of the server at --url')
  .option('--json', 'print one JSON object')
  .showHelpAfterError('(add --help for the usage)')
  .action(replay);

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`replay: ${(error as Error).message}\n`);
  process.exitCode = 1;
}

async function replay(file: string, { nodes, pullCost, url, token, json }: Options): Promise<void> {
  if ((url === undefined) !== (token === undefined)) {
    throw new Error('--url and --token go together: the token tells the running server which project to use');
  }
  const timings = readTimings(file);
  // Simulated nodes run in virtual time, and so does a server that is started for them.
  const clock = { millis: Date.now() };
  const server = url ? { url, token: token! } : await startServer(pullCost, clock);
  // Each run has its own commit, so that a running server plans it from the recorded times.
  const build = new Build(timings, { commit_hash: `replay-${randomUUID()}`, branch: 'replay', node_total: nodes }, server);
  try {
    await build.record();
    const regular = await build.split();
    const queue = await build.runQueue(pullCost, clock);
    process.stdout.write(`${(json ? toJson : toText)({ timings, pullCost, regular, queue })}\n`);
  } finally {
    if ('close' in server) await server.close();
  }
}

async function startServer(pullCost: number, clock: { millis: number }) {
  const dataDir = temporaryFolder();
  const pullCostSeconds = String(Math.max(0.01, pullCost));
  const config = parseConfig({ port: '0', dataDir, pullCostSeconds, logLevel: 'error' });
  const service = await openService(config, openLog(config.logLevel), { now: () => clock.millis });
  return {
    url: service.url,
    token: service.firstToken!,
    close: async () => {
      await service.close();
      removeFolder(dataDir);
    },
  };
}
