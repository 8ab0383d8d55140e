// Deletes the native modules in FOLDER that are not for this machine: packages have one for each platform, libc and version of Node.
//   node scripts/deploy/delete-other-binaries.mjs FOLDER
import { readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { dlopen, versions } from 'node:process';

const folder = resolve(process.argv[2]);
for (const path of readdirSync(folder, { recursive: true }).filter(name => name.endsWith('.node'))) {
  if (!isForThisMachine(path)) rmSync(join(folder, path));
}

function isForThisMachine(path) {
  // Some load in any Node, but are for the one whose ABI is in their name.
  const abi = /\babi(\d+)\b/.exec(path)?.[1] ?? versions.modules;
  try {
    dlopen({ exports: {} }, join(folder, path));
    return abi === versions.modules;
  } catch {
    return false;
  }
}
