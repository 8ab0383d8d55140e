import typia from 'typia';
import type { CancelMessage, HeartbeatMessage, QueueMessage, TestPathsQuery, TestQueueMessage } from '../../../protocol/messages/queue.js';
import { dropUnusableLinks } from './links.js';
import { checkNodeIndex, PARAMETER_REQUIRED, reader } from './validation.js';

/** Tells whether the request carries the list of all test files, to create the queue. */
export function isInitialization(message: Partial<QueueMessage>): boolean {
  return message.can_initialize_queue === true && message.attempt_connect_to_queue === false;
}

export const toQueueMessage = reader(typia.misc.literals<keyof QueueMessage>(), typia.createValidate<QueueMessage>(), {
  complete(parameters) {
    parameters.fixed_queue_split ??= false;
    parameters.skip_pull ??= false;
    if (parameters.batch_uuid === '') delete parameters.batch_uuid;
    // Old clients do not know attempt_connect_to_queue. They send the list at once, and pull without either.
    if (parameters.test_files !== undefined || parameters.can_initialize_queue === false) {
      parameters.attempt_connect_to_queue ??= false;
    }
  },
  check(message) {
    const errors = checkNodeIndex(message);
    if (isInitialization(message) && !message.test_files?.length) errors.test_files = [PARAMETER_REQUIRED];
    return errors;
  },
});

export const toTestQueueMessage = reader(typia.misc.literals<keyof TestQueueMessage>(), typia.createValidate<TestQueueMessage>(), {
  complete: dropUnusableLinks,
  check(message) {
    const errors = checkNodeIndex(message);
    if (isInitialization(message) && !message.paths?.length) errors.paths = [PARAMETER_REQUIRED];
    return errors;
  },
});

export const toHeartbeatMessage = reader(typia.misc.literals<keyof HeartbeatMessage>(), typia.createValidate<HeartbeatMessage>(), {
  check: checkNodeIndex,
});

export const toCancelMessage = reader(typia.misc.literals<keyof CancelMessage>(), typia.createValidate<CancelMessage>(), {
  check: checkNodeIndex,
});

export const toTestPathsQuery = reader(typia.misc.literals<keyof TestPathsQuery>(), typia.createValidate<TestPathsQuery>());
