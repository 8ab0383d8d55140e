import typia from 'typia';
import { charactersIn } from '../../../protocol/case-names.js';
import { limits } from '../../../protocol/limits.js';
import type { TestCasesMessage } from '../../../protocol/messages/cases.js';
import { pieceOf } from '../../../protocol/piece-path.js';
import { checkNodeIndex, reader } from './validation.js';

export const toTestCasesMessage = reader(typia.misc.literals<keyof TestCasesMessage>(), typia.createValidate<TestCasesMessage>(), {
  check(message) {
    const errors = checkNodeIndex(message);
    const long = message.files?.find(({ cases }) => charactersIn(cases) > limits.caseCharactersPerFile);
    const noPiece = message.files?.find(({ path, is_piece }) => is_piece && (message.runner === undefined || pieceOf(path) === null));
    if (noPiece)
      errors.files = [`has is_piece for ${noPiece.path}: a piece needs a path like "FILE::piece 1 of 2", and the message a runner`];
    if (long)
      errors.files = [`has ${charactersIn(long.cases)} characters of names in ${long.path} (maximum is ${limits.caseCharactersPerFile})`];
    return errors;
  },
});
