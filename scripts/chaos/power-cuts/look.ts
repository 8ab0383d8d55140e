import { answering } from '../../../bench/load/answering.js';
import { problemsIn } from '../problems.js';

/** A helper: a file that is not sound may end the process that reads it. */
answering(({ dataDir }: { dataDir: string }) => problemsIn(dataDir));
