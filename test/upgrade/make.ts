import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { Command } from 'commander';
import { version } from '../../src/base/version.js';
import { Clock } from '../harness/clock.js';
import { exitOnSignals, killAtExit, temporaryFolder } from '../testbed/cleanup.js';
import { createDatabase, startCluster } from '../testbed/postgresql.js';
import { Fixture, fixturesOf, type Kind } from './fixture.js';
import type { Past } from './past.js';
import { type Answered, answersOf } from './questions.js';
import { type Place, serve } from './served.js';

/** Keeps a folder and a database that this version writes, for the tests that later versions read them. */

const PLAY = fileURLToPath(new URL('./play.js', import.meta.url));

exitOnSignals();
const program = new Command('npm run fixture --')
  .description(
    `Write a folder and a database as version ${version} does, and keep them in test/upgrade/fixtures with what it answers. Later versions are tested with them.`,
  )
  .option('--answers', 'keep the stores of all versions, and replace their answers by those of today; prints which change')
  .parse();

const cluster = await startCluster();
if (!cluster) throw new Error('cannot make a database: this machine has no PostgreSQL: install its npm package, or PostgreSQL 14 or later');
const clusterUrl = cluster.url;
let databases = 0;

/** An empty place for a store. */
async function newPlace(kind: Kind): Promise<{ place: Place; path: string }> {
  if (kind === 'database') {
    const databaseUrl = await createDatabase(clusterUrl, `fixture_${++databases}`);
    return { place: { databaseUrl }, path: databaseUrl };
  }
  const dataDir = temporaryFolder();
  return { place: { dataDir }, path: dataDir };
}

async function make(fixture: Fixture): Promise<void> {
  const { place, path } = await newPlace(fixture.kind);
  const output = join(temporaryFolder(), 'past.json');
  const child = killAtExit(spawn(process.execPath, [PLAY, JSON.stringify(place), output], { stdio: ['ignore', 'inherit', 'inherit'] }));
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (signal !== 'SIGKILL') throw new Error(`the process that writes the ${fixture.kind} ended with ${signal ?? code}`);
  await fixture.keep(path, JSON.parse(readFileSync(output, 'utf8')) as Past);
}

/** What this program answers of a fixture. */
async function ask(fixture: Fixture): Promise<Answered[]> {
  const { place, path } = await newPlace(fixture.kind);
  await fixture.restore(path);
  const served = await serve(place, new Clock(fixture.past.at));
  const answers = await answersOf(served, fixture.past);
  await served.close();
  return answers;
}

const kinds: Kind[] = ['folder', 'database'];
const keepsStores = program.opts<{ answers?: true }>().answers === true;
const fixtures = keepsStores ? kinds.flatMap(fixturesOf) : kinds.map(kind => new Fixture(version, kind));
const differing = (answers: readonly Answered[], others: readonly Answered[]) =>
  answers.filter(answer => !others.some(other => isDeepStrictEqual(other, answer))).map(([question]) => question);
for (const fixture of fixtures) {
  if (!keepsStores) await make(fixture);
  const answers = await ask(fixture);
  const unsteady = differing(await ask(fixture), answers);
  if (unsteady.length > 0) throw new Error(`${fixture.kind}: two starts answer differently: ${unsteady.join(', ')}`);
  const changed = keepsStores ? differing(answers, fixture.answers) : [];
  fixture.keepAnswers(answers);
  process.stdout.write(`${fixture.version}, ${fixture.kind}: ${answers.length} answers\n`);
  for (const question of changed) process.stdout.write(`  changed: ${question}\n`);
}
await cluster.stop();
