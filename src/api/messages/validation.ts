import type { IValidation } from 'typia';
import type { ValidationErrors } from '../../http/api-error.js';
import { limits } from '../../limits.js';
import { apiErrors } from '../errors.js';

/** Returns the data of a typia validation. Throws a 422 with all its errors, and those that `check` finds. */
export function requireValid<T>(validation: IValidation<T>, check: (data: Partial<T>) => ValidationErrors = () => ({})): T {
  const data = validation.data as Partial<T> | undefined;
  const errors = validation.success ? {} : toValidationErrors(validation.errors);
  if (data && typeof data === 'object') {
    for (const [parameter, messages] of Object.entries(check(data))) errors[parameter] ??= messages;
  }
  if (Object.keys(errors).length > 0) throw apiErrors.invalid(errors);
  return validation.data as T;
}

export const PARAMETER_REQUIRED = 'parameter is required';

function toValidationErrors(typiaErrors: readonly IValidation.IError[]): ValidationErrors {
  const errors: ValidationErrors = Object.create(null) as ValidationErrors;
  let entries = 0;
  let lastEntry = '';
  for (const error of typiaErrors) {
    const [, parameter, position, field] = /^\$input\.(\w+)(?:\[(\d+)\])?(?:\.(\w+))?/.exec(error.path) ?? [];
    if (!parameter) continue;
    const message = toMessage(error);
    const messages = (errors[parameter] ??= []) as (string | ValidationErrors)[];
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
    const entryErrors = (messages.at(-1) as ValidationErrors)[position]!;
    if (Array.isArray(entryErrors)) entryErrors.push(message);
    else ((entryErrors[field!] ??= []) as string[]).push(message);
  }
  return errors;
}

/**
 * Translates what typia expected. It reports a failing tag as `string & MinLength<3>`, and a wrong type as `(string & MinLength<3>)`,
 * `boolean` or `((string & MaxLength<9>) | undefined)`.
 */
function toMessage({ expected, value }: IValidation.IError): string {
  if (value === undefined || (value === '' && expected.includes('MinLength<1>'))) return PARAMETER_REQUIRED;
  const [, tag, bound] = /^[^()]* & (\w+)(?:<"?([^"<>]+)"?>)?$/.exec(expected) ?? [];
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
    case 'Pattern':
      return 'is malformed';
    case 'Format':
      return bound === 'uuid' ? 'is not a UUID' : 'is not a date such as 2026-11-22';
    case 'FileName':
      return 'has a NUL, or half a surrogate pair';
    case 'MaxItems':
      return `is too long (maximum is ${bound} entries)`;
  }
  const words = [...expected.matchAll(/"([^"]+)"/g)].map(([, word]) => word);
  if (/^\(*"/.test(expected)) return `must be one of ${words.join(', ')}`;
  const type = /^\(*(\w+)/.exec(expected)?.[1];
  switch (type) {
    case 'Array':
      return 'is not an array';
    case 'string':
      // JSON parsers round such numbers, so the ids of two builds could become the same.
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
