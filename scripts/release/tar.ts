import { execFileSync } from 'node:child_process';

/** What is in an archive. */
export interface Contents {
  /** The folder in which the names are. */
  folder: string;
  names: readonly string[];
  /** The time of all files, in seconds since 1970. */
  time: number;
  /** The number of the user, and of the group, that they belong to; default: 0, root. */
  owner?: number;
  /** Their permissions, as for chmod; default: as on disk, but only the owner writes. */
  mode?: string;
}

/** Writes a tar archive, compressed if its name ends in gz. The same contents give the same bytes. Needs GNU tar and gzip. */
export function tar(archive: string, { folder, names, time, owner = 0, mode = 'go+rX,go-w' }: Contents): void {
  const sameEverywhere = ['--sort=name', `--mtime=@${time}`, `--owner=${owner}`, `--group=${owner}`, '--numeric-owner', `--mode=${mode}`];
  const compression = archive.endsWith('gz') ? ['-I', 'gzip -n -9'] : [];
  execFileSync('tar', [...sameEverywhere, '--format=gnu', ...compression, '-cf', archive, '-C', folder, ...[...names].sort()]);
}
