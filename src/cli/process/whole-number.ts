import { InvalidArgumentError } from 'commander';

/** Makes the parser of an option that takes a whole number. @param unit of what, for the error */
export function wholeNumber(unit?: string): (text: string) => number {
  return text => {
    if (/^\d{1,6}$/.test(text)) return Number(text);
    throw new InvalidArgumentError(`It must be a whole number${unit ? ` of ${unit}` : ''}.`);
  };
}
