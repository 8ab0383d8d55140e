import { buildOutline, buildPiece } from './build-pieces.js';
import { completeness } from './completeness.js';
import { prepareQueue, prepareSplit, prepareSubset, prepareTestQueue } from './prepare.js';
import { failedTestPaths, recordedDistribution } from './read.js';

/** The jobs: what a POST takes before anything is changed, and answers that grow with the suite. */
export const posts = { prepareSubset, prepareSplit, prepareQueue, prepareTestQueue };
export const reads = { buildOutline, buildPiece, recordedDistribution, completeness, failedTestPaths };

export type Posts = typeof posts;
export type Reads = typeof reads;
