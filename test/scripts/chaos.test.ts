import { expect, it } from 'vitest';
import { reasonNotTraceable } from '../../scripts/chaos/power-cuts/trace.js';
import { installedPrograms } from '../testbed/postgresql.js';
import { runScript } from './script.js';

it.for<[name: string, does: string, args: string, report: RegExp]>([
  [
    'fuzz',
    'sends malformed requests, and reports the answers',
    '--requests 300',
    /^3\d\d requests \(seed 5\): \d+ x 200, .*\d+ x 422.*; \d+ valid builds succeeded; store sound\n$/,
  ],
  [
    'strangers',
    'sends hostile calls with a public token, and reports that nothing of the project changed',
    '--calls 2000',
    /^20\d\d calls \(seed 5\): \d+ x 200, .*\d+ x 403, .*; \d+ records of the project and its answers are the same, store sound\nmemory .*\n$/,
  ],
  [
    'kills',
    'kills a server while nodes use it, and reports that nothing was lost',
    '--times 1 --builds 1',
    /^1 kills \(seed 5\), \d+ answers: every file of \d+ builds was handed out and recorded; store sound after each kill; slowest start \d+ ms\n$/,
  ],
  [
    'kills',
    'kills one of two servers on a database, and reports that nothing was lost',
    '--times 1 --builds 1 --processes 2',
    /^1 kills \(seed 5, 2 processes\), \d+ answers: every file of \d+ builds was handed out and recorded; store sound after each kill; .*\n$/,
  ],
  [
    'outages',
    'takes the database from two servers, and reports that nothing was lost',
    '--only crash cut upgrade --seconds 1',
    /^crash: database crashed .*\ncut: \d+ connections cut .*\nupgrade: \d+ servers .*\n3 cases \(seed 5\): nothing acknowledged was lost, and the store is sound\n$/,
  ],
  [
    'power-cuts',
    'resumes from the images that power cuts leave, and reports that nothing was lost',
    '--images 1 --seconds 0.4',
    /^1 power cuts \(seed 5\) during \d+ builds, \d+ answers: store sound after each, no acknowledged data lost, every build succeeded\n$/,
  ],
])('npm run %s %s', async ([name, , args, report], { skip }) => {
  const reason = name === 'power-cuts' ? reasonNotTraceable() : null;
  if (reason !== null) skip(reason);
  const needsDatabase = name === 'outages' || args.includes('--processes');
  skip(needsDatabase && (await installedPrograms()) === null, 'NOT TESTED: this machine has no programs of PostgreSQL');
  const { code, output } = await runScript(`chaos/${name}`, ...args.split(' '), '--seed', '5');
  expect(output).toMatch(report);
  expect(code).toBe(0);
});
