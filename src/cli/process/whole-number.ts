import { InvalidArgumentError } from 'commander';

/** Makes the parser of an option that takes a whole number. @param unit of what, for the error. @param least 0 or 1 */
export function wholeNumber(unit?: string, least = 0): (text: string) => number {
  return text => {
    if (/^\d{1,6}$/.test(text) && Number(text) >= least) return Number(text);
    throw new InvalidArgumentError(`It must be a whole number${unit ? ` of ${unit}` : ''}${least > 0 ? `, at least ${least}` : ''}.`);
  };
}
