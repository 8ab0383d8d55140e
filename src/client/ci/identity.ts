import { UsageError } from '../usage-error.js';
import type { CiSystem, Environment } from './system.js';
import { elsewhere, systems } from './systems.js';

/** What was said by flag or by a variable of Ballast's own: that wins. */
export interface Given {
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

type Field = keyof Given;

interface FieldText {
  flag: string;
  /** Of Ballast's own. */
  own: string;
  what: string;
}

export const fields: Readonly<Record<Field, FieldText>> = {
  nodeIndex: { flag: '--node-index <number>', own: 'BALLAST_NODE_INDEX', what: 'the index of this node, from 0' },
  nodeTotal: { flag: '--node-total <number>', own: 'BALLAST_NODE_TOTAL', what: 'the number of nodes' },
  buildId: { flag: '--build-id <id>', own: 'BALLAST_BUILD_ID', what: 'the id of the CI run, the same for all its nodes' },
  branch: { flag: '--branch <name>', own: 'BALLAST_BRANCH', what: 'the branch' },
  commitHash: { flag: '--commit-hash <hash>', own: 'BALLAST_COMMIT_HASH', what: 'the commit' },
};

/** What Git knows of the working folder: null where it knows nothing. */
export interface Checkout {
  branch(): string | null;
  commitHash(): string | null;
}

export function systemOf(environment: Environment): CiSystem {
  return systems.find(({ isHere }) => isHere(environment)) ?? elsewhere;
}

/** A value of the CI system here; null when it says nothing. */
export function detected(field: Field, environment: Environment): string | null {
  for (const { name, read } of systemOf(environment)[field]) {
    const text = environment[name]?.trim();
    const value = text && read ? read(text) : text;
    if (value) return value;
  }
  return null;
}

/** Finds out which node this is. Throws the UsageError that names all that is missing, with what was tried. */
export function identify<Wanted extends keyof Identity>(
  wanted: readonly Wanted[],
  given: Given,
  environment: Environment,
  checkout: Checkout,
): Pick<Identity, Wanted> {
  const complaints: string[] = [];
  const valueFor = (field: Field) => given[field] || detected(field, environment) || ofCheckout(field, checkout);
  const find = (field: Field): string => {
    const text = valueFor(field) || (field === 'nodeIndex' && valueFor('nodeTotal') === '1' ? '0' : null);
    if (!text) complaints.push(missing(field, environment));
    return text ?? '';
  };
  const number = (field: 'nodeIndex' | 'nodeTotal', least: number): number => {
    const text = find(field);
    if (text === '' || (/^\d{1,9}$/.test(text) && Number(text) >= least)) return Number(text);
    complaints.push(
      `${fields[field].what} is ${JSON.stringify(text)}: it must be a whole number from ${least} on (${fields[field].flag.split(' ')[0]})`,
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

function ofCheckout(field: Field, checkout: Checkout): string | null {
  return field === 'branch' || field === 'commitHash' ? checkout[field]() : null;
}

/** The error message for an unknown value: it names what was tried. */
export function missing(field: Field, environment: Environment): string {
  const { flag, own, what } = fields[field];
  const system = systemOf(environment);
  const names = system[field].map(({ name }) => name);
  const git = field === 'branch' || field === 'commitHash' ? ', and git does not tell either' : '';
  const untold = system === elsewhere ? '' : ` (${system.name} does not tell)`;
  const ofSystem = names.length > 0 ? `; tried ${names.join(', ')} (${system.name})` : untold;
  return `${what} is not known: give ${flag} or set ${own}${ofSystem}${git}`;
}
