import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Setting } from '../server/settings.js';

export function wholeNumber(unit?: string): (text: string) => number {
  return text => {
    if (/^\d{1,6}$/.test(text)) return Number(text);
    throw new InvalidArgumentError(`It must be a whole number${unit ? ` of ${unit}` : ''}.`);
  };
}

export function retriesOption(): Option {
  return new Option('--retries <number>', 'how often to repeat a request that gets no answer')
    .env('BALLAST_RETRIES')
    .argParser(wholeNumber('retries'))
    .default(3);
}

/** Adds the flag of a setting, if the setting has one. */
export function addSetting(command: Command, { flag, env, defaultText, help }: Setting): void {
  if (flag === null) return;
  command.addOption(new Option(flag, `${help} (default: ${defaultText || 'none'})`).env(env));
}
