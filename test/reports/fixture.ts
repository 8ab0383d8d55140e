import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A report as a runner wrote it. Tests run in dist/test: the fixtures lie beside dist. */
export function fixture(name: string): string {
  return readFileSync(fixtureFile(`${name}.xml`), 'utf8');
}

/** Where a report lies. */
export function fixtureFile(name: string): string {
  return fileURLToPath(new URL(`../../../test/reports/fixtures/${name}`, import.meta.url));
}
