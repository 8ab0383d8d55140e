import { agree } from '../../base/plural.js';
import type { Checkout } from '../ci/git.js';
import {
  detect,
  detectSystem,
  findValue,
  type Identity,
  type IdentityField,
  type IdentityOptions,
  identityFields,
  indexError,
  numberError,
  ownMachineHint,
  triedText,
} from '../ci/identity.js';
import { type Environment, isHere, nameOf, systems, unknownSystem } from '../ci/systems.js';
import { buildIdFindings } from './build-id.js';
import { type Finding, fine, isUnexpanded, problem, warning } from './finding.js';
import { type Found, type IdentitySources, type Known, nameOfSource, source, unexpanded } from './known-identity.js';

const fields = Object.keys(identityFields) as IdentityField[];
const noCheckout: Checkout = { branch: () => null, commitHash: () => null };

const OF_MATRIX = `no variable has the number of a matrix job: give the job env: {BALLAST_NODE_INDEX: "\${{ strategy.job-index }}", BALLAST_NODE_TOTAL: "\${{ strategy.job-total }}"}`;

/** Ways in which CI systems start numbered nodes; for the others, users number the jobs. */
const numbering: Readonly<Record<string, string>> = {
  'GitHub Actions': OF_MATRIX,
  'Gitea Actions': OF_MATRIX,
  'GitLab CI': 'give the job a number of nodes, such as parallel: 4',
  CircleCI: 'give the job a number of nodes, such as parallelism: 4',
  Buildkite: 'give the step a number of nodes, such as parallelism: 4',
  'Azure Pipelines': 'give the job a number of nodes, such as strategy: {parallel: 4}',
  'Bitbucket Pipelines': 'put the steps of the nodes under parallel:',
  'Semaphore 2': 'give the job a number of nodes, such as parallelism: 4',
  Bitrise: 'give the workflow a number of nodes, such as parallel: 4, in a pipeline',
  'Cirrus CI': 'number the tasks yourself, with BALLAST_NODE_INDEX and BALLAST_NODE_TOTAL: its own count includes tasks that run no tests',
  Jenkins:
    'number the parallel stages in the Jenkinsfile, as in withEnv(["BALLAST_NODE_INDEX=0", "BALLAST_NODE_TOTAL=4"]) { ... }, from 0 to 3',
};

/** Finds out which node of which CI run this is, who says so, and what contradicts it. Returns the values that are usable. */
export function checkIdentity(sources: IdentitySources): { findings: Finding[]; identity: Partial<Identity> } {
  const { flags, environment } = sources;
  const checkout = sources.checkout ?? noCheckout;
  const options: IdentityOptions = Object.fromEntries(
    fields.map(field => [field, flags[field] || environment[identityFields[field].variable]?.trim()]),
  );
  const system = detectSystem(environment);
  const found = Object.fromEntries(fields.map(field => [field, findValue(field, { ...options, environment }, checkout)])) as Found;
  const known: Known = { ...sources, found, system };
  const findings = [
    ...systemFindings(known),
    ...nodeFindings(known),
    ...(found.buildId ? buildIdFindings(known) : missing('buildId', known)),
    ...branchFindings(known),
    ...commitFindings(known),
    ...emptyFindings(known),
  ];
  const number = (field: 'nodeIndex' | 'nodeTotal') => {
    const value = found[field]?.value;
    return value !== undefined && numberError(field, value) === null ? Number(value) : undefined;
  };
  const values = {
    node_index: number('nodeIndex'),
    node_total: number('nodeTotal'),
    build_id: found.buildId?.value,
    branch: found.branch?.value,
    commit_hash: found.commitHash?.value,
  };
  const identity: Partial<Identity> = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
  return { findings, identity };
}

function systemFindings({ environment, system }: Known): Finding[] {
  const here = systems.filter(each => isHere(each, environment)).map(({ name }) => name);
  const first =
    system === unknownSystem
      ? fine(
          'identity.system',
          `no known CI system: only flags, the variables of Ballast, CI_NODE_INDEX and CI_NODE_TOTAL count; ${ownMachineHint}`,
        )
      : fine('identity.system', `the CI system is ${system.name}`);
  if (here.length < 2) return first;
  return [
    ...first,
    ...warning(
      'identity.two_systems',
      `the variables of ${here.join(' and of ')} are set, and those of ${system.name} count`,
      `if that is not the system of this job, set ${fields.map(field => identityFields[field].variable).join(', ')}`,
    ),
  ];
}

/** Variables of Ballast that say nothing, while others do. */
function emptyFindings(known: Known): Finding[] {
  return fields
    .filter(field => known.found[field] && known.environment[identityFields[field].variable]?.trim() === '' && !known.flags[field])
    .flatMap(field => {
      const { variable } = identityFields[field];
      return warning(
        'identity.empty_variable',
        `${variable} is set, but empty, so ${nameOfSource(field, known)} counts`,
        `check the name of what ${variable} is set to, or leave it out`,
      );
    });
}

function nodeFindings(known: Known): Finding[] {
  const { found, system, environment } = known;
  const { nodeIndex, nodeTotal } = found;
  const hint = numbering[system.name];
  if (!nodeIndex && !nodeTotal) return unnumbered(known, hint);
  const unusable = (['nodeIndex', 'nodeTotal'] as const).flatMap(field =>
    found[field] ? unusableNumber(field, known) : missing(field, known),
  );
  if (unusable.length > 0 || !nodeIndex || !nodeTotal) return unusable;
  const [index, total] = [Number(nodeIndex.value), Number(nodeTotal.value)];
  const from = `${source('nodeIndex', known)}; ${source('nodeTotal', known)}`;
  const [ofIndex, ofTotal] = [detect('nodeIndex', environment), detect('nodeTotal', environment)];
  const indexName = nameOfSource('nodeIndex', known);
  if (nodeIndex.from === 'given' && ofIndex && ofIndex.text === nodeIndex.value && ofIndex.text !== ofIndex.value)
    return problem(
      'identity.index_from_one',
      `${indexName} is ${index}, as ${ofIndex.variable}, which ${system.name} counts from 1: Ballast counts from 0, so node 0 would never come`,
      `leave ${indexName} out: Ballast reads ${ofIndex.variable} itself`,
    );
  if (index >= total) {
    const countsFromOne = index === total && (nodeIndex.from === 'given' || ofIndex?.text === nodeIndex.value);
    return problem(
      countsFromOne ? 'identity.index_from_one' : 'identity.index_too_large',
      `${indexError(index, total)} (${from})${countsFromOne ? ': the index seems to count from 1, and Ballast counts from 0' : ''}`,
      countsFromOne
        ? `count the nodes from 0 to ${total - 1} in ${indexName}, such as BALLAST_NODE_INDEX=$((NUMBER - 1)) in the shell`
        : `set BALLAST_NODE_INDEX to the index of the node, from 0 to ${total - 1}, and BALLAST_NODE_TOTAL to the number of nodes`,
    );
  }
  const node = fine('identity.node', `node ${index} of ${total}, counted from 0 (${from})`);
  if (nodeTotal.from === 'given' && ofTotal && ofTotal.value !== nodeTotal.value)
    return [
      ...node,
      ...warning(
        'identity.total_differs',
        `${nameOfSource('nodeTotal', known)} is ${total}, but ${system.name} starts ${ofTotal.value} (${ofTotal.variable})`,
        `leave ${nameOfSource('nodeTotal', known)} out, or check that exactly ${total} jobs run this command`,
      ),
    ];
  if (total === 1 && nodeTotal.from !== 'given' && hint)
    return [...node, ...warning('identity.only_node', 'this is the only node, so there is nothing to divide', hint)];
  return node;
}

/** Neither number is known. */
function unnumbered({ environment }: Known, hint: string | undefined): Finding[] {
  const { nodeIndex, nodeTotal } = identityFields;
  return problem(
    'identity.no_node',
    `neither the index of this node nor the number of nodes is known${triedText('nodeIndex', environment)}${emptyText([nodeIndex.variable, nodeTotal.variable], environment)}`,
    `${hint ? `${hint}; or ` : ''}set ${nodeIndex.variable} (from 0) and ${nodeTotal.variable}`,
  );
}

/** Names the variables that are set and empty, as the end of a sentence. */
function emptyText(names: readonly string[], environment: Environment): string {
  const empty = names.filter(name => environment[name]?.trim() === '');
  return empty.length === 0 ? '' : `; ${empty.join(' and ')} ${agree(empty.length, 'is', 'are')} set, but empty`;
}

function unusableNumber(field: 'nodeIndex' | 'nodeTotal', known: Known): Finding[] {
  const value = known.found[field]!.value;
  const error = numberError(field, value);
  if (error === null) return [];
  const name = nameOfSource(field, known);
  if (isUnexpanded(value)) return unexpanded(name, value, numbering[known.system.name]);
  return problem(
    `identity.${snake(field)}`,
    `${error} (${name})`,
    `set ${identityFields[field].variable} to the ${field === 'nodeIndex' ? 'index alone, from 0' : 'number alone'}`,
  );
}

/** The finding for a field whose value nothing gives. */
function missing(field: IdentityField, { system, environment, checkout }: Known): Finding[] {
  const { flag, variable, description } = identityFields[field];
  const ofGit = field === 'branch' || field === 'commitHash' ? gitRemedy(field, checkout) : null;
  const hint = (field === 'nodeIndex' || field === 'nodeTotal') && numbering[system.name];
  return problem(
    `identity.no_${snake(field)}`,
    `${description} is not known${triedText(field, environment)}${emptyText([variable, ...system[field].map(nameOf)], environment)}`,
    `${hint ? `${hint}; or ` : ''}set ${variable}, or give ${flag}${ofGit ?? ''}`,
  );
}

function gitRemedy(field: 'branch' | 'commitHash', checkout: Known['checkout']): string {
  const error = checkout?.error() ?? null;
  if (error !== null) return `; Git says: ${error}${/dubious/.test(error) ? ' (git config --global --add safe.directory "$PWD")' : ''}`;
  if (checkout?.commitHash() === null) return '; the repository has no commit yet';
  return field === 'branch' ? '; the checkout is of a commit (detached HEAD), as CI systems make it, so Git knows no branch' : '';
}

function branchFindings(known: Known): Finding[] {
  if (!known.found.branch) return missing('branch', known);
  const { value } = known.found.branch;
  const name = nameOfSource('branch', known);
  if (isUnexpanded(value)) return unexpanded(name, value);
  const branch = fine('identity.branch', `branch ${value} (${source('branch', known)})`);
  if (value !== 'HEAD' && !value.startsWith('refs/')) return branch;
  return warning(
    'identity.branch_name',
    `${name} is ${value}, which is not the name of a branch: Ballast keeps times by the name of the branch`,
    value === 'HEAD' ? `leave ${name} out, or set it to the branch` : `set BALLAST_BRANCH=${value.replace(/^refs\/[^/]+\//, '')}`,
  );
}

function commitFindings(known: Known): Finding[] {
  const { found, checkout } = known;
  if (!found.commitHash) return missing('commitHash', known);
  const { value, from } = found.commitHash;
  const name = nameOfSource('commitHash', known);
  if (isUnexpanded(value)) return unexpanded(name, value);
  if (value === 'HEAD' || value === found.branch?.value)
    return problem(
      'identity.commit_name',
      `${name} is ${value}, which is another commit tomorrow: a later commit would get the split of this one`,
      `set ${identityFields.commitHash.variable} to the output of git rev-parse HEAD`,
    );
  const commit = fine('identity.commit', `commit ${value} (${source('commitHash', known)})`);
  const checkedOut = from === 'git' ? null : (checkout?.commitHash() ?? null);
  const isIt = (hash: string) => hash.startsWith(value.toLowerCase());
  if (checkedOut === null || isIt(checkedOut)) return commit;
  // Bitbucket and Drone merge a pull request in each job: the merges have other hashes on each node, so they identify no build.
  const parents = checkout?.parents() ?? [];
  if (parents.length > 1 && parents.some(isIt)) return commit;
  return [
    ...commit,
    ...warning(
      'identity.commit_not_checked_out',
      `${checkedOut} is checked out here, but ${name} says ${value}: builds of different files would count as one`,
      'check out the commit of the CI run, or set BALLAST_COMMIT_HASH to the output of git rev-parse HEAD on all nodes and in the job of verify',
    ),
  ];
}

function snake(field: IdentityField): string {
  return field.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
}
