import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bare, compare, type Generator } from '../../bench/load/compare.js';
import { type Server, startServer } from '../../bench/load/server.js';
import { trials } from '../../bench/load/trials.js';
import { Worker } from '../../bench/load/worker.js';

/** Runs every trial with a minimal load. */
describe('the benchmark of requests', () => {
  let server: Server;
  let bare: Bare;
  let generator: Generator;
  beforeAll(async () => {
    bare = new Worker('bench/load/bare-server.js');
    generator = new Worker('bench/load/generator.js');
    server = await startServer();
  });
  afterAll(() => Promise.all([server.stop(), bare.stop(), generator.stop()]));

  it.each(Object.entries(trials))('measures %s', async (_name, trial) => {
    const options = { seconds: 0, amount: 20, connections: 2 };
    const compared = await compare(trial, options, { server, bare, generator });
    expect(compared.ours).toMatchObject({ answers: 20, failures: 0 });
    expect(compared.bare).toMatchObject({ answers: 20, failures: 0 });
  });
});
