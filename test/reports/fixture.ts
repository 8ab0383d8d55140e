import { readFileSync } from 'node:fs';

/** A report as a runner wrote it. Tests run in dist/test: the fixtures lie beside dist. */
export function fixture(name: string): string {
  return readFileSync(new URL(`../../../test/reports/fixtures/${name}.xml`, import.meta.url), 'utf8');
}
