import {
  type Detected,
  detect,
  detectSystem,
  type FoundValue,
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
import { type CiSystem, type Environment, isHere, nameOf, systems, unknownSystem } from '../ci/systems.js';
import type { Checkout } from '../git.js';
import { type Finding, fine, isUnexpanded, problem, warning } from './finding.js';

export interface IdentitySources {
  flags: IdentityOptions;
  environment: Environment;
  /** The checkout that the environment belongs to; null: it is of another machine. */
  checkout: (Checkout & { parents(): string[]; error(): string | null }) | null;
  /** Milliseconds since 1970. */
  now: number;
}

const fields = Object.keys(identityFields) as IdentityField[];
const noCheckout: Checkout = { branch: () => null, commitHash: () => null };

/** How each CI system starts numbered nodes; of the others, users number the jobs. */
const numbering: Readonly<Record<string, string>> = {
  'GitHub Actions': `no variable has the number of a matrix job: give the job env: {BALLAST_NODE_INDEX: "\${{ strategy.job-index }}", BALLAST_NODE_TOTAL: "\${{ strategy.job-total }}"}`,
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

/** Variables that every job of a CI run, so every node, has another value of. */
const OF_A_JOB = [
  ...['CI_JOB_ID', 'BUILDKITE_JOB_ID', 'TRAVIS_JOB_ID', 'APPVEYOR_JOB_ID', 'SYSTEM_JOBID', 'SEMAPHORE_JOB_ID', 'CIRRUS_TASK_ID'],
  ...['BITRISE_BUILD_SLUG', 'BITBUCKET_STEP_UUID', 'CODEBUILD_BUILD_ID'],
];

/** Variables whose value changes when a CI run is run again. */
const OF_AN_ATTEMPT = ['CIRCLE_WORKFLOW_ID', 'CIRCLE_BUILD_NUM', 'CIRCLE_WORKFLOW_JOB_ID'];

/** Variables that have the same value in many CI runs. */
const OF_ALL_RUNS = [
  ...['GITHUB_WORKFLOW', 'GITHUB_JOB', 'GITHUB_REPOSITORY', 'GITHUB_REF', 'GITHUB_REF_NAME', 'GITHUB_HEAD_REF', 'GITHUB_SHA'],
  ...[
    'CI_JOB_NAME',
    'CI_PROJECT_ID',
    'CI_PROJECT_PATH',
    'CI_COMMIT_REF_NAME',
    'CI_COMMIT_REF_SLUG',
    'CI_COMMIT_SHA',
    'CI_COMMIT_SHORT_SHA',
  ],
  ...['CIRCLE_JOB', 'CIRCLE_BRANCH', 'CIRCLE_PROJECT_REPONAME', 'CIRCLE_SHA1', 'BUILDKITE_PIPELINE_SLUG', 'BUILDKITE_BRANCH'],
  ...['BUILDKITE_COMMIT', 'JOB_NAME', 'JOB_BASE_NAME', 'BRANCH_NAME', 'GIT_BRANCH', 'GIT_COMMIT', 'BUILD_DEFINITIONNAME'],
];

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
    ...buildIdFindings(known),
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

type Found = Record<IdentityField, FoundValue | null>;
type Known = IdentitySources & { found: Found; system: CiSystem };

function systemFindings({ environment, system }: Known): Finding[] {
  const here = systems.filter(each => isHere(each, environment)).map(({ name }) => name);
  const first =
    system === unknownSystem
      ? fine(
          'identity.system',
          `no known CI system: only flags, the variables of Ballast, CI_NODE_INDEX and CI_NODE_TOTAL count; ${ownMachineHint}`,
        )
      : fine('identity.system', `the CI system is ${system.name}`);
  if (here.length < 2) return [first];
  return [
    first,
    warning(
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
    .map(field => {
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
  if (!nodeIndex && !nodeTotal) return [unnumbered(known, hint)];
  const unusable = (['nodeIndex', 'nodeTotal'] as const).flatMap(field => missing(field, known) ?? unusableNumber(field, known) ?? []);
  if (unusable.length > 0 || !nodeIndex || !nodeTotal) return unusable;
  const [index, total] = [Number(nodeIndex.value), Number(nodeTotal.value)];
  const from = `${source('nodeIndex', known)}; ${source('nodeTotal', known)}`;
  const [ofIndex, ofTotal] = [detect('nodeIndex', environment), detect('nodeTotal', environment)];
  const indexName = nameOfSource('nodeIndex', known);
  if (nodeIndex.from === 'given' && ofIndex && ofIndex.text === nodeIndex.value && ofIndex.text !== ofIndex.value)
    return [
      problem(
        'identity.index_from_one',
        `${indexName} is ${index}, as ${ofIndex.variable}, which ${system.name} counts from 1: Ballast counts from 0, so node 0 would never come`,
        `leave ${indexName} out: Ballast reads ${ofIndex.variable} itself`,
      ),
    ];
  if (index >= total) {
    const countsFromOne = index === total && (nodeIndex.from === 'given' || ofIndex?.text === nodeIndex.value);
    return [
      problem(
        countsFromOne ? 'identity.index_from_one' : 'identity.index_too_large',
        `${indexError(index, total)} (${from})${countsFromOne ? ': the index seems to count from 1, and Ballast counts from 0' : ''}`,
        countsFromOne
          ? `count the nodes from 0 to ${total - 1} in ${indexName}, such as BALLAST_NODE_INDEX=$((NUMBER - 1)) in the shell`
          : `set BALLAST_NODE_INDEX to the index of the node, from 0 to ${total - 1}, and BALLAST_NODE_TOTAL to the number of nodes`,
      ),
    ];
  }
  const node = fine('identity.node', `node ${index} of ${total}, counted from 0 (${from})`);
  if (nodeTotal.from === 'given' && ofTotal && ofTotal.value !== nodeTotal.value)
    return [
      node,
      warning(
        'identity.total_differs',
        `${nameOfSource('nodeTotal', known)} is ${total}, but ${system.name} starts ${ofTotal.value} (${ofTotal.variable})`,
        `leave ${nameOfSource('nodeTotal', known)} out, or check that exactly ${total} jobs run this command`,
      ),
    ];
  if (total === 1 && nodeTotal.from !== 'given' && hint)
    return [node, warning('identity.only_node', 'this is the only node, so there is nothing to divide', hint)];
  return [node];
}

/** Neither number is known. */
function unnumbered({ environment }: Known, hint: string | undefined): Finding {
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
  return empty.length === 0 ? '' : `; ${empty.join(' and ')} ${empty.length > 1 ? 'are' : 'is'} set, but empty`;
}

function unusableNumber(field: 'nodeIndex' | 'nodeTotal', known: Known): Finding | null {
  const value = known.found[field]!.value;
  const error = numberError(field, value);
  if (error === null) return null;
  const name = nameOfSource(field, known);
  if (isUnexpanded(value)) return unexpanded(name, value, numbering[known.system.name]);
  return problem(
    `identity.${snake(field)}`,
    `${error} (${name})`,
    `set ${identityFields[field].variable} to the ${field === 'nodeIndex' ? 'index alone, from 0' : 'number alone'}`,
  );
}

function unexpanded(name: string, value: string, hint = 'check the name of the variable, and the quotes around it'): Finding {
  return problem('identity.unexpanded', `${name} is ${JSON.stringify(value)}: the CI system or the shell did not replace it`, hint);
}

/** Null: the value is known. */
function missing(field: IdentityField, { found, system, environment, checkout }: Known): Finding | null {
  if (found[field]) return null;
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

function buildIdFindings(known: Known): Finding[] {
  const { found, environment, system, now } = known;
  const unknown = missing('buildId', known);
  if (unknown) return [unknown];
  const { value, from } = found.buildId!;
  const name = nameOfSource('buildId', known);
  const run = fine('identity.build_id', `CI run ${value} (${source('buildId', known)})`);
  const attempt = system.isRerun?.(environment)
    ? [fine('identity.rerun', 'this is a later attempt of the CI run: a node gets only the files that failed or did not run')]
    : [];
  if (from !== 'given') return [run, ...attempt];
  if (isUnexpanded(value)) return [unexpanded(name, value)];
  const detected = detect('buildId', environment);
  const leaveOut = detected
    ? `leave ${name} out: Ballast reads ${detected.variable} of ${system.name}`
    : `set ${name} to an id of the CI run`;
  if (value === detected?.value) return [run, ...attempt];
  const has = (variable: string) => isPart(environment[variable] ?? '', value);
  const job = OF_A_JOB.find(has);
  const ownEach = 'every node has a different one, so each would run all test files';
  if (job) return [problem('identity.build_id_of_node', `${name} has the value of ${job}: ${ownEach}`, leaveOut)];
  const isTime = /^\d{10}(\d{3})?$/.test(value) && Math.abs(Number(value.slice(0, 10)) - now / 1000) < 86_400;
  if (isTime) return [problem('identity.build_id_of_node', `${name} is ${value}, the time of day: ${ownEach}`, leaveOut)];
  const rest = detected && value.startsWith(detected.value) ? value.slice(detected.value.length).replace(/^\W+/, '') : null;
  if (rest !== null && rest === environment.GITHUB_RUN_ATTEMPT)
    return [
      run,
      fine('identity.build_id_of_attempt', 'each attempt is a CI run of its own: the nodes that run again run the files of all nodes'),
    ];
  const ending = rest?.split(/\W+/) ?? [];
  if (
    found.nodeIndex &&
    ending.at(-1) === found.nodeIndex.value &&
    ending.slice(0, -1).every(part => part === environment.GITHUB_RUN_ATTEMPT)
  )
    return [problem('identity.build_id_of_node', `${name} is ${value}, which ends in the index of the node: ${ownEach}`, leaveOut)];
  const ofAttempt = OF_AN_ATTEMPT.find(has);
  if (ofAttempt)
    return [
      run,
      warning(
        'identity.build_id_of_attempt',
        `${name} has the value of ${ofAttempt}, which a re-run changes: nodes that run again run the files of all nodes`,
        leaveOut,
      ),
    ];
  const shared = OF_ALL_RUNS.find(variable => environment[variable] === value);
  const same = shared ?? (value === found.branch?.value ? 'the branch' : value === found.commitHash?.value ? 'the commit' : null);
  if (same)
    return [
      problem(
        'identity.build_id_shared',
        `${name} has the value of ${same}, which several CI runs share: the first of them empties the queue, and the others run nothing`,
        leaveOut,
      ),
    ];
  // Of a system without such an id, whatever starts its jobs makes one up, and no variable can confirm it.
  const isConstant =
    detected !== null &&
    !Object.entries(environment).some(
      ([other, text]) => other !== name && text && (text === value || (text.length > 1 && value.includes(text))),
    );
  if (!isConstant) return [run, ...attempt];
  return [
    run,
    warning(
      'identity.build_id_constant',
      `${name} is ${value}, which no variable of this job has: if all CI runs have it, the first empties the queue, and the others run nothing`,
      leaveOut,
    ),
  ];
}

/** Whether an id contains a text that is long enough to be an id, and not within a word. */
function isPart(text: string, id: string): boolean {
  const at = text.length > 3 ? id.indexOf(text) : -1;
  const isBoundary = (character = '-') => !/[a-z\d]/i.test(character);
  return at >= 0 && isBoundary(id[at - 1]) && isBoundary(id[at + text.length]);
}

function branchFindings(known: Known): Finding[] {
  const unknown = missing('branch', known);
  if (unknown) return [unknown];
  const { value } = known.found.branch!;
  const name = nameOfSource('branch', known);
  if (isUnexpanded(value)) return [unexpanded(name, value)];
  const branch = fine('identity.branch', `branch ${value} (${source('branch', known)})`);
  if (value !== 'HEAD' && !value.startsWith('refs/')) return [branch];
  return [
    warning(
      'identity.branch_name',
      `${name} is ${value}, which is not the name of a branch: Ballast keeps times by the name of the branch`,
      value === 'HEAD' ? `leave ${name} out, or set it to the branch` : `set BALLAST_BRANCH=${value.replace(/^refs\/[^/]+\//, '')}`,
    ),
  ];
}

function commitFindings(known: Known): Finding[] {
  const { found, checkout } = known;
  const unknown = missing('commitHash', known);
  if (unknown) return [unknown];
  const { value, from } = found.commitHash!;
  const name = nameOfSource('commitHash', known);
  if (isUnexpanded(value)) return [unexpanded(name, value)];
  if (value === 'HEAD' || value === found.branch?.value)
    return [
      problem(
        'identity.commit_name',
        `${name} is ${value}, which is another commit tomorrow: a later commit would get the split of this one`,
        `set ${identityFields.commitHash.variable} to the output of git rev-parse HEAD`,
      ),
    ];
  const commit = fine('identity.commit', `commit ${value} (${source('commitHash', known)})`);
  const checkedOut = from === 'git' ? null : (checkout?.commitHash() ?? null);
  const isIt = (hash: string) => hash.startsWith(value.toLowerCase());
  if (checkedOut === null || isIt(checkedOut)) return [commit];
  // Bitbucket and Drone merge a pull request in each job: the merges have other hashes on each node, so they identify no build.
  const parents = checkout?.parents() ?? [];
  if (parents.length > 1 && parents.some(isIt)) return [commit];
  return [
    commit,
    warning(
      'identity.commit_not_checked_out',
      `${checkedOut} is checked out here, but ${name} says ${value}: builds of different files would count as one`,
      'check out the commit of the CI run, or set BALLAST_COMMIT_HASH to the output of git rev-parse HEAD on all nodes and in the job of verify',
    ),
  ];
}

/** Names what a value was given by: --branch, BALLAST_BRANCH, GITHUB_REF_NAME, git. */
function nameOfSource(field: IdentityField, { found, flags }: Known): string {
  const { from } = found[field]!;
  const { flag, variable } = identityFields[field];
  if (from === 'given') return flags[field] ? flag.split(' ')[0]! : variable;
  return typeof from === 'object' ? from.variable : from;
}

/** The same, with the text of a variable that a number or another value was read from. */
function source(field: IdentityField, known: Known): string {
  const { from, value } = known.found[field]!;
  if (typeof from !== 'object') return from === 'only node' ? 'the only node needs no index' : nameOfSource(field, known);
  const { variable, text }: Detected = from;
  if (text === value) return field === 'nodeIndex' || field === 'nodeTotal' ? `${variable}=${text}` : variable;
  return `${variable}=${text}${field === 'nodeIndex' ? ', which counts from 1' : ''}`;
}

function snake(field: IdentityField): string {
  return field.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
}
