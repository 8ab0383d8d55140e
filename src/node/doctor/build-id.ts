import { detect } from '../ci/identity.js';
import { type Finding, fine, isUnexpanded, problem, warning } from './finding.js';
import { type Known, nameOfSource, source, unexpanded } from './known-identity.js';

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

/** Says which CI run this is, and whether its id is the same for all its nodes and attempts, and no other CI run has it. */
export function buildIdFindings(known: Known): Finding[] {
  const { found, environment, system } = known;
  const { value, from } = found.buildId!;
  const name = nameOfSource('buildId', known);
  const run = fine('identity.build_id', `CI run ${value} (${source('buildId', known)})`);
  const attempt = system.isRerun?.(environment)
    ? fine('identity.rerun', 'this is a later attempt of the CI run: a node gets only the files that failed or did not run')
    : [];
  if (from !== 'given') return [...run, ...attempt];
  if (isUnexpanded(value)) return unexpanded(name, value);
  const detected = detect('buildId', environment);
  if (value === detected?.value) return [...run, ...attempt];
  const ending = detected && value.startsWith(detected.value) ? value.slice(detected.value.length).replace(/^\W+/, '') : null;
  if (ending !== null && ending === environment.GITHUB_RUN_ATTEMPT)
    return [
      ...run,
      ...fine('identity.build_id_of_attempt', 'each attempt is a CI run of its own: the nodes that run again run the files of all nodes'),
    ];
  const remedy = detected
    ? `leave ${name} out: Ballast reads ${detected.variable} of ${system.name}`
    : `set ${name} to an id of the CI run`;
  const ofNode = whyOfNode(value, ending, known);
  if (ofNode)
    return problem(
      'identity.build_id_of_node',
      `${name} ${ofNode}: every node has a different one, so each would run all test files`,
      remedy,
    );
  const ofAttempt = OF_AN_ATTEMPT.find(variable => isPart(environment[variable] ?? '', value));
  if (ofAttempt)
    return [
      ...run,
      ...warning(
        'identity.build_id_of_attempt',
        `${name} has the value of ${ofAttempt}, which a re-run changes: nodes that run again run the files of all nodes`,
        remedy,
      ),
    ];
  const shared = whatShares(value, known);
  if (shared)
    return problem(
      'identity.build_id_shared',
      `${name} has the value of ${shared}, which several CI runs share: the first of them empties the queue, and the others run nothing`,
      remedy,
    );
  // Of a system without such an id, whatever starts its jobs makes one up, and no variable can confirm it.
  if (detected === null || isMadeOfVariables(value, name, known)) return [...run, ...attempt];
  return [
    ...run,
    ...warning(
      'identity.build_id_constant',
      `${name} is ${value}, which no variable of this job has: if all CI runs have it, the first empties the queue, and the others run nothing`,
      remedy,
    ),
  ];
}

/** Says why each node has another id, as the end of "VARIABLE ..."; null: no sign of it. @param ending what follows the id of the CI system */
function whyOfNode(id: string, ending: string | null, { environment, found, now }: Known): string | null {
  const job = OF_A_JOB.find(variable => isPart(environment[variable] ?? '', id));
  if (job) return `has the value of ${job}`;
  if (/^\d{10}(\d{3})?$/.test(id) && Math.abs(Number(id.slice(0, 10)) - now / 1000) < 86_400) return `is ${id}, the time of day`;
  const parts = ending?.split(/\W+/) ?? [];
  const isOfNode = found.nodeIndex && parts.at(-1) === found.nodeIndex.value;
  const hasNoOther = parts.slice(0, -1).every(part => part === environment.GITHUB_RUN_ATTEMPT);
  return isOfNode && hasNoOther ? `is ${id}, which ends in the index of the node` : null;
}

/** Names what has the value of an id, and is the same in many CI runs; null: nothing that is known. */
function whatShares(id: string, { environment, found }: Known): string | null {
  const variable = OF_ALL_RUNS.find(each => environment[each] === id);
  return variable ?? (id === found.branch?.value ? 'the branch' : id === found.commitHash?.value ? 'the commit' : null);
}

/** Reports whether another variable than that of the id has the id or a part of it. */
function isMadeOfVariables(id: string, name: string, { environment }: Known): boolean {
  return Object.entries(environment).some(
    ([other, text]) => other !== name && text && (text === id || (text.length > 1 && id.includes(text))),
  );
}

/** Reports whether an id contains a text that is long enough to be an id, and not within a word. */
function isPart(text: string, id: string): boolean {
  const at = text.length > 3 ? id.indexOf(text) : -1;
  const isBoundary = (character = '-') => !/[a-z\d]/i.test(character);
  return at >= 0 && isBoundary(id[at - 1]) && isBoundary(id[at + text.length]);
}
