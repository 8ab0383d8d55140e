import { say } from './terminal.js';

/** Ends the process with a sentence on a Node that is too old. Imported before the program. */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 12)) {
  say(`this is Node ${process.versions.node}, and Ballast needs Node 20 (from 20.12), 22, 24 or 26: get one from https://nodejs.org, or by "nvm install 24"`);
  process.exit(2);
}

/** Throws where packages of the server have no binaries. A CI node needs none of them. */
export function expectBinaries(): void {
  const { platform, arch } = process;
  if ((platform === 'linux' || platform === 'darwin') && (arch === 'x64' || arch === 'arm64')) return;
  const message = `this is ${platform} on ${arch}, and the server and its data need Linux or macOS on x64 or arm64: run them there, in a container or a virtual machine for example`;
  throw Object.assign(new Error(message), { exitCode: 2 });
}
