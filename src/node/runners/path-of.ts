import { relative, sep } from 'node:path';

/** The path of a file as clients list it: relative to the current folder, so that it is the same on all machines. */
export function pathOf(file: string): string {
  return relative(process.cwd(), file).split(sep).join('/');
}
