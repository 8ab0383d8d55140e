import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bare, compare, type Generator } from '../../bench/requests/compare.js';
import { Helper, type Server, startServer } from '../../bench/requests/processes.js';
import { trials } from '../../bench/requests/trials.js';

/** The benchmark in its smallest form: that every trial works, not how fast. */
describe('bench', () => {
  let server: Server;
  let bare: Bare;
  let generator: Generator;
  beforeAll(async () => {
    bare = new Helper('requests/bare.js');
    generator = new Helper('requests/generator.js');
    server = await startServer();
  });
  afterAll(() => Promise.all([server.stop(), bare.stop(), generator.stop()]));

  it.each(Object.entries(trials))('%s', async (_name, trial) => {
    const extent = { seconds: 0, amount: 20, connections: 2 };
    const compared = await compare(trial, extent, { server, bare, generator });
    expect(compared.ours).toMatchObject({ answers: 20, failures: 0 });
    expect(compared.bare).toMatchObject({ answers: 20, failures: 0 });
  });
});
