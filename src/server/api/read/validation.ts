import type { IValidation } from 'typia';
import type { NodeKey } from '../../../protocol/messages/parameters.js';
import type { ValidationErrors } from '../../http/api-error.js';
import { apiErrors } from '../errors.js';

/** Invalid entries of lists that one 422 names. */
const REPORTED_INVALID_ENTRIES = 1000;

const INTEGERS = [
  'project',
  'node_total',
  'node_index',
  'batch_index',
  'batch_id',
  'batch',
  'page',
  'wait',
  'limit',
  'offset',
  'days',
  'max_age',
];
const NUMBERS = ['within', 'start_spread', 'pull_cost', 'setup', 'target'];
const BOOLEANS = [
  ...['fixed_test_suite_split', 'cache_read_attempt', 'can_initialize_queue', 'attempt_connect_to_queue', 'fixed_queue_split'],
  ...['skip_pull', 'wants_times', 'failed', 'allow_empty', 'in_pieces', 'flaky_passes', 'tells_outcomes'],
];
const IDS = ['ci_build_id', 'node_build_id', 'test_queue_id'];

/** Conversions by parameter: clients may send integers and booleans as strings, and ids as numbers. typia then checks strictly. */
const coercions: Readonly<Record<string, (value: unknown) => unknown>> = Object.fromEntries([
  ...INTEGERS.map(name => [name, toInteger]),
  ...NUMBERS.map(name => [name, toNumber]),
  ...BOOLEANS.map(name => [name, toBoolean]),
  ...IDS.map(name => [name, toId]),
]);

/** Parameters as they were sent, not validated. */
export type RawParameters = Readonly<Record<string, unknown>>;

/**
 * Picks the named parameters, drops those that are null, and converts the others. Strings are made well-formed, because half a surrogate
 * pair has no UTF-8. All other parameters are ignored, whatever their number and depth.
 */
function coerce(raw: RawParameters, names: readonly string[]): Record<string, unknown> {
  const parameters: Record<string, unknown> = {};
  for (const name of names) {
    const value = Object.hasOwn(raw, name) ? raw[name] : null;
    if (value === null || value === undefined) continue;
    parameters[name] = coercions[name]?.(value) ?? (typeof value === 'string' ? value.toWellFormed() : value);
  }
  return parameters;
}

/** Coerces the parameters of a form, without its empty fields: a form sends these, and they choose nothing. */
export function coerceForm(raw: RawParameters, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(coerce(raw, names)).filter(([, value]) => value !== ''));
}

function toInteger(value: unknown): unknown {
  const number = toNumber(value);
  // Turns -0 into 0: as keys they would differ.
  return number === 0 ? 0 : number;
}

function toNumber(value: unknown): unknown {
  return typeof value === 'string' && /^\s*-?\d{1,300}(\.\d{1,300})?\s*$/.test(value) ? Number(value) : value;
}

function toBoolean(value: unknown): unknown {
  if (value === 'true') return true;
  if (value === 'false') return false;
  return value;
}

function toId(value: unknown): unknown {
  // Beyond 2^53, JSON.parse may round different ids to the same number.
  if (Number.isSafeInteger(value)) return String(value);
  return typeof value === 'string' ? value.toWellFormed() : value;
}

/** Rules of a message that its types cannot express. */
interface Rules<T> {
  /** Empty fields choose nothing, as in a form. */
  isForm?: boolean;
  /** Sets defaults, and deletes what stands for nothing, before the types are checked. */
  complete?: (parameters: Record<string, unknown>) => void;
  /** Gets only the parameters whose types are valid. */
  check?: (data: Partial<T>) => ValidationErrors;
}

/** Makes the function that converts parameters to a message. It throws a 422 that names all errors. @param names its parameters */
export function reader<T>(
  names: readonly string[],
  validate: (input: unknown) => IValidation<T>,
  { isForm, complete, check }: Rules<T> = {},
) {
  return (raw: RawParameters): T => {
    const parameters = isForm ? coerceForm(raw, names) : coerce(raw, names);
    complete?.(parameters);
    return requireValid(validate(parameters), check);
  };
}

/** Returns the data of a typia validation. Throws a 422 with all its errors, and those that `check` finds (see Rules). */
export function requireValid<T>(validation: IValidation<T>, check: (data: Partial<T>) => ValidationErrors = () => ({})): T {
  const errors = validation.success ? {} : toValidationErrors(validation.errors);
  const valid = validation.success ? validation.data : without(validation.data as Record<string, unknown>, errors);
  for (const [parameter, messages] of Object.entries(check(valid as Partial<T>))) errors[parameter] ??= messages;
  if (Object.keys(errors).length > 0) throw apiErrors.invalid(errors);
  return validation.data as T;
}

function without(parameters: Record<string, unknown>, errors: ValidationErrors): Record<string, unknown> {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !Object.hasOwn(errors, name)));
}

export const PARAMETER_REQUIRED = 'parameter is required';

function toValidationErrors(typiaErrors: readonly IValidation.IError[]): ValidationErrors {
  const errors: ValidationErrors = Object.create(null) as ValidationErrors;
  let entries = 0;
  let lastEntry = '';
  for (const error of typiaErrors) {
    const [, parameter, position, field, within = ''] = /^\$input\.(\w+)(?:\[(\d+)\])?(?:\.(\w+))?(.*)/.exec(error.path) ?? [];
    if (!parameter) continue;
    const message = position !== undefined && within !== '' ? `${within}: ${toMessage(error)}` : toMessage(error);
    const messages = (errors[parameter] ??= []) as (string | ValidationErrors)[];
    if (position === undefined) {
      messages.push(message);
      continue;
    }
    const entry = `${parameter}.${position}`;
    // Each error deeper within an entry counts as an entry of its own.
    if (entry !== lastEntry || within !== '') entries += 1;
    if (entries > REPORTED_INVALID_ENTRIES) continue;
    if (entry !== lastEntry) messages.push({ [position]: field ? {} : [] });
    lastEntry = entry;
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

/** Checks that node_index, which starts at 0, is less than node_total. */
export function checkNodeIndex({ node_index, node_total }: Partial<NodeKey>): ValidationErrors {
  if (!Number.isInteger(node_index) || !Number.isInteger(node_total) || node_total! < 1) return {};
  const maximum = node_total! - 1;
  return node_index! > maximum ? { node_index: [`must be less than or equal to ${maximum}`] } : {};
}
