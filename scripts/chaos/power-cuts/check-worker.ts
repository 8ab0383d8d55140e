import { answering } from '../../../bench/load/answering.js';
import { checkStore } from '../store-check.js';

/** A helper: a file that is not sound may end the process that reads it. */
answering(({ dataDir }: { dataDir: string }) => checkStore(dataDir));
