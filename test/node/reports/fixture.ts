import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Reads a report that a test runner wrote. */
export function readFixture(name: string): string {
  return readFileSync(fixturePath(`${name}.xml`), 'utf8');
}

/** Returns the path of a report. Tests run in dist/test; the fixtures are not copied there. */
export function fixturePath(name: string): string {
  return fileURLToPath(new URL(`../../../../test/node/reports/fixtures/${name}`, import.meta.url));
}
