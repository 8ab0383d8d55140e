import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { openStoppedDemo, STOPPED_AT } from './demo/stopped-demo.js';
import { makeSite } from './site/make-site.js';
import { recordDemo } from './site/recording.js';

/** Makes the site: the guides, and the dashboard over a recorded demo, without a server. */

/** They have each incident of the demo. */
const DAYS = 10;

new Command('npm run site --')
  .description(
    'Make a static site: the guides with a search, and the dashboard over recorded answers of the demo. It opens from its folder, and from any path of a web server. The same commit gives the same bytes.',
  )
  .argument('<folder>', 'where to write the files: an empty folder')
  .showHelpAfterError('(add --help for the usage)')
  .action(site)
  .parseAsync()
  .catch((error: unknown) => {
    process.stderr.write(`site: ${(error as Error).message}\n`);
    process.exitCode = 1;
  });

async function site(path: string): Promise<void> {
  const folder = resolve(path);
  mkdirSync(folder, { recursive: true });
  const [other] = readdirSync(folder);
  if (other !== undefined)
    throw new Error(`cannot write to ${folder}: it has files already, such as ${other}; remove them, or name another folder`);
  process.stderr.write(`site: making the builds of ${DAYS} days ...\n`);
  const demo = await openStoppedDemo(DAYS);
  try {
    process.stderr.write('site: recording the pages ...\n');
    await makeSite(folder, await recordDemo(demo), STOPPED_AT);
  } finally {
    await demo.close();
  }
  const sizes = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => statSync(join(folder, name)))
    .filter(file => file.isFile());
  const megabytes = sizes.reduce((sum, { size }) => sum + size, 0) / 1_000_000;
  process.stdout.write(`${join(folder, 'index.html')}: ${sizes.length} files, ${megabytes.toFixed(1)} MB\n`);
}
