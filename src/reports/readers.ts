import { readGoTimes, readJunitTimes } from './case-times.js';
import { readCypressSplit } from './cypress-split.js';
import { readFlat } from './flat.js';
import type { Format } from './format.js';
import { readJest } from './jest.js';
import { readParallelTests } from './parallel-tests.js';
import { readPlaywright } from './playwright.js';
import type { ReadReport } from './report.js';

/** The reader of each format. */
export const readers: Readonly<Record<Exclude<Format, 'ballast'>, ReadReport>> = {
  junit: readJunitTimes,
  'pytest-split': readFlat,
  knapsack: readFlat,
  'parallel-tests': readParallelTests,
  'cypress-split': readCypressSplit,
  playwright: readPlaywright,
  jest: readJest,
  vitest: readJest,
  'go-test': readGoTimes,
};
