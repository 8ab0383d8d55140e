import type { Checkout } from '../ci/git.js';
import { type Detected, type FoundValue, type IdentityField, type IdentityOptions, identityFields } from '../ci/identity.js';
import type { CiSystem, Environment } from '../ci/systems.js';
import { type Finding, problem } from './finding.js';

export interface IdentitySources {
  flags: IdentityOptions;
  environment: Environment;
  /** The checkout that the environment belongs to; null: it is of another machine. */
  checkout: (Checkout & { parents(): string[]; error(): string | null }) | null;
  /** Milliseconds since 1970. */
  now: number;
}

/** The values of the identity, and who says each; null: nobody does. */
export type Found = Record<IdentityField, FoundValue | null>;
/** Input of the checks of the identity. */
export type Known = IdentitySources & { found: Found; system: CiSystem };

/** Names what a value was given by: --branch, BALLAST_BRANCH, GITHUB_REF_NAME, git. */
export function nameOfSource(field: IdentityField, { found, flags }: Known): string {
  const { from } = found[field]!;
  const { flag, variable } = identityFields[field];
  if (from === 'given') return flags[field] ? flag.split(' ')[0]! : variable;
  return typeof from === 'object' ? from.variable : from;
}

/** The same, with the text of a variable that a number or another value was read from. */
export function source(field: IdentityField, known: Known): string {
  const { from, value } = known.found[field]!;
  if (typeof from !== 'object') return from === 'only node' ? 'the only node needs no index' : nameOfSource(field, known);
  const { variable, text }: Detected = from;
  if (text === value) return field === 'nodeIndex' || field === 'nodeTotal' ? `${variable}=${text}` : variable;
  return `${variable}=${text}${field === 'nodeIndex' ? ', which counts from 1' : ''}`;
}

/** A value that nothing replaced. @param hint what to do */
export function unexpanded(name: string, value: string, hint = 'check the name of the variable, and the quotes around it'): Finding[] {
  return problem('identity.unexpanded', `${name} is ${JSON.stringify(value)}: the CI system or the shell did not replace it`, hint);
}
