import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** The path of the installed Chromium; null: there is none. */
export const chromiumPath = findChromium();

function findChromium(): string | null {
  const paths = (process.env.PATH ?? '').split(':').flatMap(folder => NAMES.map(name => join(folder, name)));
  return paths.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
