import { UsageError } from '../../usage-error.js';
import { type Checkout, gitCheckout } from '../git.js';
import { type CiSystem, type Environment, nameOf, systems, unknownSystem } from './systems.js';

export type IdentityField = 'nodeIndex' | 'nodeTotal' | 'buildId' | 'branch' | 'commitHash';

/** Values from flags and BALLAST_ variables. They override those of the CI system. */
export type IdentityOptions = { [Field in IdentityField]?: string };

/** Which node of which build this is. */
export interface Identity {
  node_index: number;
  node_total: number;
  build_id: string;
  branch: string;
  commit_hash: string;
}

export const identityFields: Readonly<Record<IdentityField, { flag: string; variable: string; description: string }>> = {
  nodeIndex: { flag: '--node-index <number>', variable: 'BALLAST_NODE_INDEX', description: 'the index of this node (from 0)' },
  nodeTotal: { flag: '--node-total <number>', variable: 'BALLAST_NODE_TOTAL', description: 'the number of nodes' },
  buildId: { flag: '--build-id <id>', variable: 'BALLAST_BUILD_ID', description: 'the id of the CI run (the same for all its nodes)' },
  branch: { flag: '--branch <name>', variable: 'BALLAST_BRANCH', description: 'the branch' },
  commitHash: { flag: '--commit-hash <hash>', variable: 'BALLAST_COMMIT_HASH', description: 'the commit' },
};

export function detectSystem(environment: Environment): CiSystem {
  return systems.find(({ isHere }) => isHere(environment)) ?? unknownSystem;
}

/** Returns the value that the CI system sets; null: it sets none. */
export function detectValue(field: IdentityField, environment: Environment): string | null {
  for (const variable of detectSystem(environment)[field]) {
    const text = environment[nameOf(variable)]?.trim();
    const value = text && typeof variable === 'object' ? variable.read(text) : text;
    if (value) return value;
  }
  return null;
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
  const errors: string[] = [];
  const findValue = (field: IdentityField) => options[field] || detectValue(field, environment) || checkoutValue(field, checkout);
  const text = (field: IdentityField): string => {
    // The only node needs no index.
    const value = findValue(field) || (field === 'nodeIndex' && findValue('nodeTotal') === '1' ? '0' : null);
    if (!value) errors.push(missingMessage(field, environment));
    return value ?? '';
  };
  const number = (field: 'nodeIndex' | 'nodeTotal', min: number): number => {
    const value = text(field);
    if (value === '' || (/^\d{1,9}$/.test(value) && Number(value) >= min)) return Number(value);
    const { flag, description } = identityFields[field];
    errors.push(`${description} is ${JSON.stringify(value)}: it must be a whole number from ${min} on (${flag.split(' ')[0]})`);
    return 0;
  };
  const read: { [Key in keyof Identity]: () => Identity[Key] } = {
    node_index: () => number('nodeIndex', 0),
    node_total: () => number('nodeTotal', 1),
    build_id: () => text('buildId'),
    branch: () => text('branch'),
    commit_hash: () => text('commitHash'),
  };
  const identity: Partial<Identity> = {};
  for (const key of wanted) Object.assign(identity, { [key]: read[key]() });
  const { node_index = 0, node_total = Infinity } = identity;
  if (errors.length === 0 && node_index >= node_total)
    errors.push(`the index of this node is ${node_index}, and of ${node_total} nodes the last one is ${node_total - 1}`);
  if (errors.length > 0) throw new UsageError(errors);
  return identity as Pick<Identity, Wanted>;
}

function checkoutValue(field: IdentityField, checkout: Checkout): string | null {
  return field === 'branch' || field === 'commitHash' ? checkout[field]() : null;
}

/** Returns the error for a value that is not known, with the variables that were tried. */
export function missingMessage(field: IdentityField, environment: Environment): string {
  const { flag, variable, description } = identityFields[field];
  const system = detectSystem(environment);
  const names = system[field].map(nameOf);
  const git = field === 'branch' || field === 'commitHash' ? ', and git does not know it either' : '';
  const unset = system === unknownSystem ? '' : ` (${system.name} does not set it)`;
  const tried = names.length > 0 ? `; tried ${names.join(', ')} (${system.name})` : unset;
  return `${description} is not known: give ${flag} or set ${variable}${tried}${git}`;
}
