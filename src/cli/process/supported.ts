import { printToStderr } from '../../base/terminal.js';

/** Ends the process with an error if Node is too old. It is a module of its own, so that it runs before the program is loaded. */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 12)) {
  printToStderr(
    `cannot run on Node ${process.versions.node}: Ballast needs Node 20.12 or later; install Node 24 from https://nodejs.org or with "nvm install 24"`,
  );
  process.exit(2);
}

/** Throws on platforms for which the native packages of the server have no binaries. The commands of a CI node need none of them. */
export function requireServerPlatform(): void {
  const { platform, arch } = process;
  if ((platform === 'linux' || platform === 'darwin') && (arch === 'x64' || arch === 'arm64')) return;
  const message = `cannot run the server or open its data on ${platform}-${arch}: both need Linux or macOS on x64 or arm64; use such a machine, container or virtual machine`;
  throw Object.assign(new Error(message), { exitCode: 2 });
}
