import { fileURLToPath } from 'node:url';

/** The path of a compiled file, which is named from the project's root on. */
export function compiled(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}
