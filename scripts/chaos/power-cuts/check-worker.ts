import { answering } from '../../../bench/load/answering.js';
import { checkStore } from '../store-check.js';

/** Checks stores in a process of its own: a damaged file may crash the process that reads it. */
answering(({ dataDir }: { dataDir: string }) => checkStore(dataDir));
