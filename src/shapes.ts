/** Predicates of which the parsers of answers are made. They allow additional fields. */

export type Predicate = (value: unknown) => boolean;

/** The compiler requires a predicate for each field. */
export type Shape<T> = { [Name in keyof T]-?: Predicate };

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function hasShape<T>(value: unknown, shape: Shape<T>): value is T {
  return isRecord(value) && Object.entries<Predicate>(shape).every(([name, is]) => is(value[name]));
}

export const isBoolean: Predicate = value => typeof value === 'boolean';
export const isString: Predicate = value => typeof value === 'string';
export const isNonEmptyString: Predicate = value => typeof value === 'string' && value !== '';
export const isCount: Predicate = value => Number.isSafeInteger(value) && (value as number) >= 0;
export const isSeconds: Predicate = value => Number.isFinite(value) && (value as number) >= 0;
export const nullable =
  (is: Predicate): Predicate =>
  value =>
    value === null || is(value);
export const optional =
  (is: Predicate): Predicate =>
  value =>
    value === undefined || is(value);
export const arrayOf =
  (is: Predicate): Predicate =>
  value =>
    Array.isArray(value) && value.every(is);
export const recordOf =
  <T>(shape: Shape<T>): Predicate =>
  value =>
    hasShape(value, shape);
