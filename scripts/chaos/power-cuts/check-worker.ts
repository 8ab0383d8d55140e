import { answerMessages } from '../../../test/testbed/worker-messages.js';
import { checkStore } from '../store-check.js';

/** Checks stores in a process of its own: a damaged file may crash the process that reads it. */
answerMessages(({ dataDir }: { dataDir: string }) => checkStore(dataDir));
