import { readCtrfTimes, readDartTimes, readGoTimes, readJsonTimes, readJunitTimes, readTrxTimes } from './case-times.js';
import { readCypressSplit, readFlat, readParallelTests } from './flat.js';
import type { Format } from './format.js';
import { readJest, readPlaywright } from './json-reports.js';
import type { ReadReport } from './report.js';

/** The reader of each format. */
export const readers: Readonly<Record<Exclude<Format, 'ballast'>, ReadReport>> = {
  junit: readJunitTimes,
  trx: readTrxTimes,
  'pytest-split': readFlat,
  knapsack: readFlat,
  'parallel-tests': readParallelTests,
  'cypress-split': readCypressSplit,
  playwright: readPlaywright,
  jest: readJest,
  vitest: readJest,
  rspec: readJsonTimes,
  mocha: readJsonTimes,
  'go-test': readGoTimes,
  'dart-test': readDartTimes,
  ctrf: readCtrfTimes,
};
