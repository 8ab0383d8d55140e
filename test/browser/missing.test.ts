import { it } from 'vitest';

const MISSING =
  'the tests in a browser do not run: no chromium, chromium-browser or google-chrome is in PATH; "apt-get install chromium" installs it';

process.stderr.write(`\n  ${MISSING}\n\n`);

/** Runs instead of the tests in a browser where there is none. */
it.skip(MISSING);
