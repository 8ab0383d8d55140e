import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bare, compare, type Generator } from '../../bench/load/compare.js';
import { type Server, startServer } from '../../bench/load/server.js';
import { trials } from '../../bench/load/trials.js';
import { Worker } from '../../bench/load/worker.js';

/** Runs every trial with a minimal load. */
describe('the benchmark of requests', () => {
  let server: Server;
  let bare: Bare;
  const generators: Generator[] = [];
  beforeAll(async () => {
    bare = new Worker('bench/load/bare-server.js');
    generators.push(new Worker('bench/load/socket-generator.js'), new Worker('bench/load/autocannon-generator.js'));
    server = await startServer();
  });
  afterAll(() => Promise.all([server.stop(), bare.stop(), ...generators.map(generator => generator.stop())]));

  it.each(Object.entries(trials))('measures %s with each generator', async (_name, trial) => {
    for (const generator of generators) {
      const compared = await compare(trial, { seconds: 0, amount: 20, connections: 2 }, { server, bare, generator });
      expect(compared.ours).toMatchObject({ answers: 20, failures: 0 });
      expect(compared.bare).toMatchObject({ answers: 20, failures: 0 });
    }
  });
});
