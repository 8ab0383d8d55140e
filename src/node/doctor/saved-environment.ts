import { readFileSync } from 'node:fs';
import { UsageError } from '../../base/usage-error.js';
import type { Environment } from '../ci/systems.js';

/** Reads what `env` or `env -0` printed: NAME=VALUE in lines, or up to each NUL. Throws a UsageError if there is no variable in it. */
export function readEnvironment(path: string): Environment {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    throw new UsageError([`cannot read the environment ${path}: ${(error as Error).message}`]);
  }
  const variables = new Map<string, string>();
  let last: string | null = null;
  for (const part of text.split(text.includes('\0') ? '\0' : /\r?\n/)) {
    const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(part) ?? [];
    if (name !== undefined) variables.set((last = name), value!);
    // A line without a name goes on with the value before it.
    else if (last !== null && part !== '') variables.set(last, `${variables.get(last)}\n${part}`);
  }
  if (variables.size === 0) throw new UsageError([`${path} has no variable: give a file with the output of env or env -0`]);
  return Object.fromEntries(variables);
}
