import { InvalidArgumentError } from 'commander';

/** Option parsers for commander. */

export const numberParser = (check: (value: number) => boolean, complaint: string) => (text: string) => {
  const value = Number(text);
  if (text.trim() === '' || !check(value)) throw new InvalidArgumentError(complaint);
  return value;
};

export const positiveInteger = numberParser(
  value => Number.isInteger(value) && value > 0 && value <= 1e8,
  'It must be a whole number above 0.',
);
