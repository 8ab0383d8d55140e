import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { NODE_ABI, NODE_MAJOR, PROCESSORS } from './release/node-binary.js';
import { makeServerFolder } from './release/server-folder.js';

/** Makes the folder of an archive of the server for this machine, which is Linux, with its Node. The Dockerfile uses it. */

const program = new Command('node dist/scripts/server-folder.js')
  .description('Make a folder with the server, its production packages and the Node that runs this command, for this machine.')
  .argument('<folder>', 'the folder')
  .parse();

const processor = PROCESSORS.find(each => each === process.arch);
if (!processor || process.versions.modules !== NODE_ABI)
  throw new Error(
    `cannot make the server for Node ${process.version} on ${process.arch}: its native modules are kept for Node ${NODE_MAJOR} on ${PROCESSORS.join(' and ')}; run this command with that Node`,
  );
makeServerFolder(resolve(program.args[0]!), {
  root: fileURLToPath(new URL('../..', import.meta.url)),
  processor,
  libc: existsSync('/etc/alpine-release') ? 'musl' : 'glibc',
  node: dirname(dirname(process.execPath)),
});
