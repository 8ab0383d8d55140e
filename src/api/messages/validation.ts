import type { IValidation } from 'typia';
import { apiErrors, type ValidationErrors } from '../../api-error.js';
import { limits } from '../../limits.js';

/** Returns the data of a typia validation; throws the 422 that lists everything wrong with it. */
export function requireValid<T>(validation: IValidation<T>, more: (data: Partial<T>) => ValidationErrors = () => ({})): T {
  const data = validation.data as Partial<T> | undefined;
  const complaints = validation.success ? {} : fromErrors(validation.errors);
  if (data && typeof data === 'object') {
    for (const [parameter, messages] of Object.entries(more(data))) complaints[parameter] ??= messages;
  }
  if (Object.keys(complaints).length > 0) throw apiErrors.invalid(complaints);
  return validation.data as T;
}

export const PARAMETER_REQUIRED = 'parameter is required';

function fromErrors(errors: readonly IValidation.IError[]): ValidationErrors {
  const complaints: ValidationErrors = Object.create(null) as ValidationErrors;
  let entries = 0;
  let lastEntry = '';
  for (const error of errors) {
    const [, parameter, position, field] = /^\$input\.(\w+)(?:\[(\d+)\])?(?:\.(\w+))?/.exec(error.path) ?? [];
    if (!parameter) continue;
    const message = toMessage(error);
    const messages = (complaints[parameter] ??= []) as (string | ValidationErrors)[];
    if (position === undefined) {
      messages.push(message);
      continue;
    }
    const entry = `${parameter}.${position}`;
    if (entry !== lastEntry) {
      lastEntry = entry;
      entries += 1;
      if (entries <= limits.reportedInvalidEntries) messages.push({ [position]: field ? {} : [] });
    }
    if (entries > limits.reportedInvalidEntries) continue;
    const nested = (messages.at(-1) as ValidationErrors)[position]!;
    if (Array.isArray(nested)) nested.push(message);
    else ((nested[field!] ??= []) as string[]).push(message);
  }
  return complaints;
}

/**
 * typia names what it expected: one failing tag as `string & MinLength<3>`, a wrong type as
 * `(string & MinLength<3>)`, `boolean` or `((string & MaxLength<9>) | undefined)`.
 */
function toMessage({ expected, value }: IValidation.IError): string {
  if (value === undefined || (value === '' && expected.includes('MinLength<1>'))) return PARAMETER_REQUIRED;
  const [, tag, bound] = /^[^()]* & (\w+)<"?([^"<>]+)"?>$/.exec(expected) ?? [];
  switch (tag) {
    case 'Type':
      return Number.isInteger(value) ? 'is too large' : 'is not an integer';
    case 'Minimum':
      return `must be greater than or equal to ${bound}`;
    case 'Maximum':
      return `must be less than or equal to ${bound}`;
    case 'MinLength':
      return `is too short (minimum is ${bound} characters)`;
    case 'MaxLength':
      return `is too long (maximum is ${bound} characters)`;
    case 'MaxItems':
      return `is too long (maximum is ${bound} entries)`;
  }
  const type = /^\(*(\w+)/.exec(expected)?.[1];
  switch (type) {
    case 'Array':
      return 'is not an array';
    case 'string':
      // An id sent as a number that JSON readers round: another build's could become the same.
      if (Number.isInteger(value) && !Number.isSafeInteger(value)) return 'is too large for a number, send a string';
      return 'is not a string';
    case 'number':
      return 'is not a number';
    case 'boolean':
      return 'is not a boolean';
    default:
      return 'is not an object';
  }
}
