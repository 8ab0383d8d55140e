import { existsSync, readFileSync } from 'node:fs';

/** The folder of the package, with a slash at its end. How far it is depends on how this file was compiled. */
export let packageFolder = new URL('./', import.meta.url);
while (!existsSync(new URL('package.json', packageFolder))) packageFolder = new URL('../', packageFolder);

/** The version of this program, from package.json. */
export const { version } = JSON.parse(readFileSync(new URL('package.json', packageFolder), 'utf8')) as { version: string };
