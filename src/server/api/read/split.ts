import typia from 'typia';
import type { SplitMessage } from '../../../protocol/messages/split.js';
import { dropUnusableLinks } from './links.js';
import { checkNodeIndex, PARAMETER_REQUIRED, reader } from './validation.js';

/** The ci_build_id of old clients, which send none. */
const UNKNOWN_CI_BUILD_ID = 'unknown';

export const toSplitMessage = reader(typia.misc.literals<keyof SplitMessage>(), typia.createValidate<SplitMessage>(), {
  complete(parameters) {
    parameters.fixed_test_suite_split ??= true;
    dropUnusableLinks(parameters);
    if (parameters.test_files === undefined || parameters.cache_read_attempt !== undefined) return;
    // Old clients do not know cache_read_attempt and send the list at once. Nor do they know ci_build_id, which distinguishes dynamic
    // splits and has no effect on fixed ones.
    parameters.cache_read_attempt = false;
    if (parameters.fixed_test_suite_split === true) parameters.ci_build_id ??= UNKNOWN_CI_BUILD_ID;
  },
  check(message) {
    const errors = checkNodeIndex(message);
    if (message.cache_read_attempt === false && !message.test_files?.length) errors.test_files = [PARAMETER_REQUIRED];
    return errors;
  },
});
