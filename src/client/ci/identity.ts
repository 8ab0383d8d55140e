import { UsageError } from '../usage-error.js';
import type { CiSystem, Environment } from './system.js';
import { systems, unknownSystem } from './systems.js';

/** What was said by flag or by a variable of Ballast's own: that wins. */
export interface IdentityOptions {
  nodeIndex?: string;
  nodeTotal?: string;
  buildId?: string;
  branch?: string;
  commitHash?: string;
}

/** Which node of which build this is. */
export interface Identity {
  node_index: number;
  node_total: number;
  build_id: string;
  branch: string;
  commit_hash: string;
}

type Field = keyof IdentityOptions;

interface FieldDescription {
  flag: string;
  /** Of Ballast's own. */
  variable: string;
  description: string;
}

export const identityFields: Readonly<Record<Field, FieldDescription>> = {
  nodeIndex: { flag: '--node-index <number>', variable: 'BALLAST_NODE_INDEX', description: 'the index of this node, from 0' },
  nodeTotal: { flag: '--node-total <number>', variable: 'BALLAST_NODE_TOTAL', description: 'the number of nodes' },
  buildId: { flag: '--build-id <id>', variable: 'BALLAST_BUILD_ID', description: 'the id of the CI run, the same for all its nodes' },
  branch: { flag: '--branch <name>', variable: 'BALLAST_BRANCH', description: 'the branch' },
  commitHash: { flag: '--commit-hash <hash>', variable: 'BALLAST_COMMIT_HASH', description: 'the commit' },
};

/** What Git knows of the working folder: null where it knows nothing. */
export interface Checkout {
  branch(): string | null;
  commitHash(): string | null;
}

export function detectSystem(environment: Environment): CiSystem {
  return systems.find(({ isHere }) => isHere(environment)) ?? unknownSystem;
}

/** A value of the CI system here; null when it says nothing. */
export function detectValue(field: Field, environment: Environment): string | null {
  for (const { name, read } of detectSystem(environment)[field]) {
    const text = environment[name]?.trim();
    const value = text && read ? read(text) : text;
    if (value) return value;
  }
  return null;
}

/** Finds out which node this is. Throws the UsageError that names all that is missing, with what was tried. */
export function identify<Wanted extends keyof Identity>(
  wanted: readonly Wanted[],
  given: IdentityOptions,
  environment: Environment,
  checkout: Checkout,
): Pick<Identity, Wanted> {
  const complaints: string[] = [];
  const valueFor = (field: Field) => given[field] || detectValue(field, environment) || checkoutValue(field, checkout);
  const find = (field: Field): string => {
    const text = valueFor(field) || (field === 'nodeIndex' && valueFor('nodeTotal') === '1' ? '0' : null);
    if (!text) complaints.push(missingMessage(field, environment));
    return text ?? '';
  };
  const number = (field: 'nodeIndex' | 'nodeTotal', least: number): number => {
    const text = find(field);
    if (text === '' || (/^\d{1,9}$/.test(text) && Number(text) >= least)) return Number(text);
    complaints.push(
      `${identityFields[field].description} is ${JSON.stringify(text)}: it must be a whole number from ${least} on (${identityFields[field].flag.split(' ')[0]})`,
    );
    return 0;
  };
  const read: { [Key in keyof Identity]: () => Identity[Key] } = {
    node_index: () => number('nodeIndex', 0),
    node_total: () => number('nodeTotal', 1),
    build_id: () => find('buildId'),
    branch: () => find('branch'),
    commit_hash: () => find('commitHash'),
  };
  const found: Partial<Identity> = {};
  for (const key of wanted) Object.assign(found, { [key]: read[key]() });
  const { node_index = 0, node_total = Infinity } = found;
  if (complaints.length === 0 && node_index >= node_total) {
    complaints.push(`the index of this node is ${node_index}, and of ${node_total} nodes the last one is ${node_total - 1}`);
  }
  if (complaints.length > 0) throw new UsageError(complaints);
  return found as Pick<Identity, Wanted>;
}

function checkoutValue(field: Field, checkout: Checkout): string | null {
  return field === 'branch' || field === 'commitHash' ? checkout[field]() : null;
}

/** The error message for an unknown value: it names what was tried. */
export function missingMessage(field: Field, environment: Environment): string {
  const { flag, variable, description } = identityFields[field];
  const system = detectSystem(environment);
  const names = system[field].map(({ name }) => name);
  const git = field === 'branch' || field === 'commitHash' ? ', and git does not tell either' : '';
  const untold = system === unknownSystem ? '' : ` (${system.name} does not tell)`;
  const ofSystem = names.length > 0 ? `; tried ${names.join(', ')} (${system.name})` : untold;
  return `${description} is not known: give ${flag} or set ${variable}${ofSystem}${git}`;
}
