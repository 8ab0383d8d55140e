import { pluralize } from '../../base/plural.js';
import { UsageError } from '../../base/usage-error.js';
import { type Checkout, gitCheckout } from './git.js';
import { type CiSystem, type Environment, isHere, nameOf, readVariable, systems, unknownSystem } from './systems.js';

export type IdentityField = 'nodeIndex' | 'nodeTotal' | 'buildId' | 'branch' | 'commitHash';

/** Values from flags and BALLAST_ variables. They override those of the CI system. */
export type IdentityOptions = { [Field in IdentityField]?: string };

/** The node and its build. */
export interface Identity {
  node_index: number;
  node_total: number;
  build_id: string;
  branch: string;
  commit_hash: string;
}

/** The node and its build, in any CI run. */
export type BuildNode = Omit<Identity, 'build_id'>;

export const identityFields: Readonly<Record<IdentityField, { flag: string; variable: string; description: string }>> = {
  nodeIndex: { flag: '--node-index <number>', variable: 'BALLAST_NODE_INDEX', description: 'the index of this node (from 0)' },
  nodeTotal: { flag: '--node-total <number>', variable: 'BALLAST_NODE_TOTAL', description: 'the number of nodes' },
  buildId: { flag: '--build-id <id>', variable: 'BALLAST_BUILD_ID', description: 'the id of the CI run (the same for all its nodes)' },
  branch: { flag: '--branch <name>', variable: 'BALLAST_BRANCH', description: 'the branch' },
  commitHash: { flag: '--commit-hash <hash>', variable: 'BALLAST_COMMIT_HASH', description: 'the commit' },
};

export function detectSystem(environment: Environment): CiSystem {
  return systems.find(system => isHere(system, environment)) ?? unknownSystem;
}

/** A value that a CI system sets, and the variable that has it, as a text that may differ from the value. */
export interface Detected {
  value: string;
  variable: string;
  text: string;
}

/** Returns the value that the CI system sets, with its variable; null: it sets none. */
export function detect(field: IdentityField, environment: Environment): Detected | null {
  for (const variable of detectSystem(environment)[field]) {
    const name = nameOf(variable);
    const text = environment[name]?.trim();
    const value = text && readVariable(variable, text);
    if (text && value) return { value, variable: name, text };
  }
  return null;
}

/** Returns the value that the CI system sets; null: it sets none. */
export function detectValue(field: IdentityField, environment: Environment): string | null {
  return detect(field, environment)?.value ?? null;
}

/** A value of the identity, and who says so: a flag or a variable of Ballast, a variable of the CI system, or Git. */
export interface FoundValue {
  value: string;
  from: 'given' | 'git' | 'only node' | Detected;
}

/** Finds a value; null: nobody says it. */
export function findValue(
  field: IdentityField,
  options: IdentityOptions & { environment: Environment },
  checkout: Checkout,
): FoundValue | null {
  const given = options[field];
  if (given) return { value: given, from: 'given' };
  const detected = detect(field, options.environment);
  if (detected) return { value: detected.value, from: detected };
  const ofGit = checkoutValue(field, checkout);
  if (ofGit) return { value: ofGit, from: 'git' };
  // The only node needs no index.
  const isOnlyNode = field === 'nodeIndex' && findValue('nodeTotal', options, checkout)?.value === '1';
  return isOnlyNode ? { value: '0', from: 'only node' } : null;
}

/** All that identifies a node. */
export const wholeIdentity = ['node_index', 'node_total', 'build_id', 'branch', 'commit_hash'] as const;

/** Finds out which node this is. Throws a UsageError that lists every missing or invalid value. */
export function identify<Wanted extends keyof Identity>(
  wanted: readonly Wanted[],
  options: IdentityOptions & { environment: Environment },
  checkout: Checkout = gitCheckout('.'),
): Pick<Identity, Wanted> {
  const { environment } = options;
  const missing: IdentityField[] = [];
  const errors: string[] = [];
  const text = (field: IdentityField): string => {
    const found = findValue(field, options, checkout);
    if (!found) missing.push(field);
    return found?.value ?? '';
  };
  const number = (field: 'nodeIndex' | 'nodeTotal'): number => {
    const value = text(field);
    const error = value === '' ? null : numberError(field, value);
    if (error === null) return Number(value);
    errors.push(`${error} (${identityFields[field].flag.split(' ')[0]})`);
    return 0;
  };
  const read: { [Key in keyof Identity]: () => Identity[Key] } = {
    node_index: () => number('nodeIndex'),
    node_total: () => number('nodeTotal'),
    build_id: () => text('buildId'),
    branch: () => text('branch'),
    commit_hash: () => text('commitHash'),
  };
  const identity: Partial<Identity> = {};
  for (const key of wanted) Object.assign(identity, { [key]: read[key]() });
  const { node_index = 0, node_total = Infinity } = identity;
  errors.unshift(...missing.map(field => missingMessage(field, environment)));
  const isOwnMachine = missing.length > 1 && (missing.includes('nodeTotal') || missing.includes('buildId'));
  if (isOwnMachine && detectSystem(environment) === unknownSystem) errors.push(`no CI system was detected: ${ownMachineHint}`);
  if (errors.length === 0 && node_index >= node_total) errors.push(indexError(node_index, node_total));
  if (errors.length > 0) throw new UsageError(errors);
  return identity as Pick<Identity, Wanted>;
}

/** Returns why a text is no index or no number of nodes; null: it is one. */
export function numberError(field: 'nodeIndex' | 'nodeTotal', text: string): string | null {
  const min = field === 'nodeIndex' ? 0 : 1;
  if (/^\d{1,9}$/.test(text) && Number(text) >= min) return null;
  return `${identityFields[field].description} is ${JSON.stringify(text)}: it must be a whole number from ${min} on`;
}

/** Advice that makes a machine without a CI system a node. */
export const ownMachineHint =
  'to try Ballast on your own machine, set BALLAST_NODE_TOTAL=1 BALLAST_BUILD_ID=1, and another BALLAST_BUILD_ID for each run';

/** The error for an index that is too large. */
export function indexError(index: number, total: number): string {
  return `the index of this node is ${index}, but the last of ${pluralize(total, 'node')} has the index ${total - 1}`;
}

function checkoutValue(field: IdentityField, checkout: Checkout): string | null {
  return field === 'branch' || field === 'commitHash' ? checkout[field]() : null;
}

/** Returns the error for a value that is not known, with the variables that were tried. */
export function missingMessage(field: IdentityField, environment: Environment): string {
  const { flag, variable, description } = identityFields[field];
  return `${description} is not known: give ${flag} or set ${variable}${triedText(field, environment)}`;
}

/** Says where a value was looked for, as the end of a sentence. */
export function triedText(field: IdentityField, environment: Environment): string {
  const system = detectSystem(environment);
  const names = system[field].map(nameOf);
  const git = field === 'branch' || field === 'commitHash' ? ', and git does not know it either' : '';
  const unset = system === unknownSystem ? '' : ` (${system.name} does not set it)`;
  return `${names.length > 0 ? `; tried ${names.join(', ')} (${system.name})` : unset}${git}`;
}
