import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A report as a runner wrote it. Tests run in dist/test: the fixtures lie beside dist. */
export function readFixture(name: string): string {
  return readFileSync(fixturePath(`${name}.xml`), 'utf8');
}

/** Where a report lies. */
export function fixturePath(name: string): string {
  return fileURLToPath(new URL(`../../../test/reports/fixtures/${name}`, import.meta.url));
}
