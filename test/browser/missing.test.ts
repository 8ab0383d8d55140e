import { it } from 'vitest';
import { MISSING } from './launch.js';

/** Runs instead of the tests in a browser where there is none. */
it.skip(MISSING);
