export type Environment = Readonly<Record<string, string | undefined>>;

/** Readers of the texts of variables; null: the text is not usable. The plugin of pytest (`src/node/runners/pytest`) has the same. */
const readers = {
  /** A number that the system counts from 1. */
  fromOne: text => (/^[1-9]\d*$/.test(text) ? String(Number(text) - 1) : text),
  /** A Git reference: refs/heads/main is the branch main. */
  reference: text => text.replace(/^refs\/(heads|tags)\//, ''),
  /** A commit hash. Names such as HEAD are not usable: they mean other commits later. */
  hash: text => (/^[0-9a-f]{7,64}$/i.test(text) ? text : null),
  /** A remote branch: origin/main is the branch main. */
  remote: text => text.replace(/^origin\//, ''),
} satisfies Record<string, (text: string) => string | null>;

/** The name of a variable, or one whose text is converted. */
export type Variable = string | { name: string; read: keyof typeof readers };

export const nameOf = (variable: Variable): string => (typeof variable === 'string' ? variable : variable.name);

/** Returns the value that the text of a variable stands for; null: the text is not usable. */
export const readVariable = (variable: Variable, text: string): string | null =>
  typeof variable === 'string' ? text : readers[variable.read](text);

/** The variables of a CI system. Of several variables, the first one that is set counts. */
export interface CiSystem {
  name: string;
  /** The variables that are all set in its jobs, or that have a value. */
  marks: readonly (string | { name: string; value: string })[];
  /** From 0. Empty: the system does not number parallel jobs. */
  nodeIndex: readonly Variable[];
  nodeTotal: readonly Variable[];
  /** The same for all nodes of a CI run and for retries of them. */
  buildId: readonly Variable[];
  /** Reports whether this is a later attempt of a CI run or job. Missing: the system does not say it. */
  isRerun?: (environment: Environment) => boolean;
  /** The source branch, also of a pull request. */
  branch: readonly Variable[];
  commitHash: readonly Variable[];
  links: SystemLinks;
}

/** Addresses with the names of variables in braces. Missing: the documentation of the system has none. */
export interface SystemLinks {
  /** The page of this job, or else of its CI run. */
  job?: string;
  /** The page of the commit. Missing: it follows from `repository`. */
  commit?: string;
  /** The repository, as Git or people address it. */
  repository?: string;
  /** Software that serves the repository. Missing: its host decides, see `forgesByHost`. */
  forge?: Forge;
}

/** Places of commits, and of the differences between two of them, in the address of a repository. Missing: undocumented. */
export const forges = {
  github: { commit: '/commit/{commit}', diff: '/compare/{before}...{commit}' },
  gitlab: { commit: '/-/commit/{commit}', diff: '/-/compare/{before}...{commit}' },
  bitbucket: { commit: '/commits/{commit}', diff: '/branches/compare/{commit}..{before}' },
  azure: { commit: '/commit/{commit}', diff: null },
} as const;

export type Forge = keyof typeof forges;

/** Gitea and Forgejo have the addresses of GitHub. */
export const forgesByHost: Readonly<Record<string, Forge>> = {
  'github.com': 'github',
  'gitlab.com': 'gitlab',
  'bitbucket.org': 'bitbucket',
  'dev.azure.com': 'azure',
  'codeberg.org': 'github',
};

const fromOne = (name: string): Variable => ({ name, read: 'fromOne' });
const reference = (name: string): Variable => ({ name, read: 'reference' });
const hash = (name: string): Variable => ({ name, read: 'hash' });
const remote = (name: string): Variable => ({ name, read: 'remote' });

/** A number of attempts above that of the first. */
const countsFrom =
  (name: string, first: number) =>
  (environment: Environment): boolean =>
    Number(environment[name]) > first;

/** Values where a system defines nothing else: users number parallel jobs themselves, with the conventional variables. */
const defaults = { nodeIndex: ['CI_NODE_INDEX'], nodeTotal: ['CI_NODE_TOTAL'], buildId: [], branch: [], commitHash: [], links: {} };

type KnownSystem = Pick<CiSystem, 'name' | 'marks'> & Partial<CiSystem>;

// No variable has the index of a matrix job: set BALLAST_NODE_INDEX: ${{ strategy.job-index }}. A rerun keeps GITHUB_RUN_ID (and counts
// GITHUB_RUN_ATTEMPT). GITHUB_REF_NAME of a pull request is 12/merge.
const gitHub: KnownSystem = {
  name: 'GitHub Actions',
  marks: ['GITHUB_ACTIONS'],
  buildId: ['GITHUB_RUN_ID'],
  isRerun: countsFrom('GITHUB_RUN_ATTEMPT', 1),
  branch: ['GITHUB_HEAD_REF', 'GITHUB_REF_NAME'],
  commitHash: ['GITHUB_SHA'],
  // No variable has the number of the job.
  links: {
    job: '{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{GITHUB_RUN_ID}/attempts/{GITHUB_RUN_ATTEMPT}',
    repository: '{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}',
    forge: 'github',
  },
};

/**
 * The variables of each CI system, from its documentation. The first system whose variables are set counts. The commit is the one that is
 * checked out, even if it merges a pull request with its base for this CI run: another base gives another suite, which needs another split.
 */
const known: readonly KnownSystem[] = [
  // Gitea and Forgejo set the variables of GitHub. Whether the address of a CI run has its id or its number depends on their version.
  {
    ...gitHub,
    name: 'Gitea Actions',
    marks: ['GITEA_ACTIONS'],
    links: { repository: '{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}', forge: 'github' },
  },
  gitHub,
  {
    // `parallel: N`, counted from 1; other jobs have CI_NODE_TOTAL 1 and no index. A retried job keeps the pipeline (and gets a new CI_JOB_ID).
    name: 'GitLab CI',
    marks: ['GITLAB_CI'],
    nodeIndex: [fromOne('CI_NODE_INDEX')],
    nodeTotal: ['CI_NODE_TOTAL'],
    buildId: ['CI_PIPELINE_ID'],
    branch: ['CI_MERGE_REQUEST_SOURCE_BRANCH_NAME', 'CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME', 'CI_COMMIT_REF_NAME'],
    commitHash: ['CI_COMMIT_SHA'],
    links: { job: '{CI_JOB_URL}', repository: '{CI_PROJECT_URL}', forge: 'gitlab' },
  },
  {
    // `parallelism: N`, from 0. A rerun, from the start or of failed jobs, creates a new workflow in the workspace of the old one.
    name: 'CircleCI',
    marks: ['CIRCLECI'],
    nodeIndex: ['CIRCLE_NODE_INDEX'],
    nodeTotal: ['CIRCLE_NODE_TOTAL'],
    buildId: ['CIRCLE_WORKFLOW_WORKSPACE_ID', 'CIRCLE_WORKFLOW_ID'],
    isRerun: ({ CIRCLE_WORKFLOW_ID: workflow, CIRCLE_WORKFLOW_WORKSPACE_ID: first = workflow }) => workflow !== first,
    branch: ['CIRCLE_BRANCH', 'CIRCLE_TAG'],
    commitHash: ['CIRCLE_SHA1'],
    links: { job: '{CIRCLE_BUILD_URL}', repository: '{CIRCLE_REPOSITORY_URL}' },
  },
  {
    // `parallelism: N`, from 0. A retried job keeps the build (and counts BUILDKITE_RETRY_COUNT). A build that was started by hand may have
    // the commit "HEAD": Git knows the hash.
    name: 'Buildkite',
    marks: ['BUILDKITE'],
    nodeIndex: ['BUILDKITE_PARALLEL_JOB'],
    nodeTotal: ['BUILDKITE_PARALLEL_JOB_COUNT'],
    buildId: ['BUILDKITE_BUILD_ID'],
    isRerun: countsFrom('BUILDKITE_RETRY_COUNT', 0),
    branch: ['BUILDKITE_BRANCH'],
    commitHash: [hash('BUILDKITE_COMMIT')],
    links: { job: '{BUILDKITE_BUILD_URL}#{BUILDKITE_JOB_ID}', repository: '{BUILDKITE_REPO}' },
  },
  {
    // `strategy: parallel: N`, counted from 1. A retried job keeps the build (and counts SYSTEM_JOBATTEMPT).
    name: 'Azure Pipelines',
    marks: ['TF_BUILD'],
    nodeIndex: [fromOne('SYSTEM_JOBPOSITIONINPHASE')],
    nodeTotal: ['SYSTEM_TOTALJOBSINPHASE'],
    buildId: ['BUILD_BUILDID'],
    isRerun: countsFrom('SYSTEM_JOBATTEMPT', 1),
    branch: [reference('SYSTEM_PULLREQUEST_SOURCEBRANCH'), reference('BUILD_SOURCEBRANCH')],
    commitHash: ['BUILD_SOURCEVERSION'],
    links: {
      job: '{SYSTEM_COLLECTIONURI}{SYSTEM_TEAMPROJECTID}/_build/results?buildId={BUILD_BUILDID}&view=logs&j={SYSTEM_JOBID}',
      repository: '{BUILD_REPOSITORY_URI}',
    },
  },
  {
    // `parallel:` steps, from 0. A retried step keeps the pipeline (and counts BITBUCKET_STEP_RUN_NUMBER).
    name: 'Bitbucket Pipelines',
    marks: ['BITBUCKET_BUILD_NUMBER'],
    nodeIndex: ['BITBUCKET_PARALLEL_STEP'],
    nodeTotal: ['BITBUCKET_PARALLEL_STEP_COUNT'],
    buildId: ['BITBUCKET_PIPELINE_UUID', 'BITBUCKET_BUILD_NUMBER'],
    isRerun: countsFrom('BITBUCKET_STEP_RUN_NUMBER', 1),
    branch: ['BITBUCKET_BRANCH', 'BITBUCKET_TAG'],
    commitHash: ['BITBUCKET_COMMIT'],
    links: {
      job: 'https://bitbucket.org/{BITBUCKET_REPO_FULL_NAME}/pipelines/results/{BITBUCKET_BUILD_NUMBER}/steps/{BITBUCKET_STEP_UUID}',
      repository: 'https://bitbucket.org/{BITBUCKET_REPO_FULL_NAME}',
    },
  },
  {
    // `parallelism: N`, counted from 1. A retried pipeline keeps the workflow; a retried workflow is a new one. SEMAPHORE_GIT_BRANCH of a
    // pull request is its base.
    name: 'Semaphore 2',
    marks: ['SEMAPHORE', 'SEMAPHORE_WORKFLOW_ID'],
    nodeIndex: [fromOne('SEMAPHORE_JOB_INDEX')],
    nodeTotal: ['SEMAPHORE_JOB_COUNT'],
    buildId: ['SEMAPHORE_WORKFLOW_ID'],
    branch: ['SEMAPHORE_GIT_PR_BRANCH', 'SEMAPHORE_GIT_WORKING_BRANCH', 'SEMAPHORE_GIT_BRANCH'],
    commitHash: ['SEMAPHORE_GIT_SHA'],
    links: { job: '{SEMAPHORE_ORGANIZATION_URL}/jobs/{SEMAPHORE_JOB_ID}', repository: '{SEMAPHORE_GIT_URL}' },
  },
  {
    // A matrix, numbered by the user. A retried job keeps the build. TRAVIS_BRANCH of a pull request is its base.
    name: 'Travis CI',
    marks: ['TRAVIS'],
    buildId: ['TRAVIS_BUILD_ID'],
    branch: ['TRAVIS_PULL_REQUEST_BRANCH', 'TRAVIS_BRANCH'],
    commitHash: ['TRAVIS_COMMIT'],
    links: { job: '{TRAVIS_JOB_WEB_URL}' },
  },
  {
    // A matrix, numbered by the user. A rebuild keeps the build. APPVEYOR_REPO_BRANCH of a pull request is its base.
    name: 'AppVeyor',
    marks: ['APPVEYOR'],
    buildId: ['APPVEYOR_BUILD_ID'],
    branch: ['APPVEYOR_PULL_REQUEST_HEAD_REPO_BRANCH', 'APPVEYOR_REPO_BRANCH'],
    commitHash: ['APPVEYOR_REPO_COMMIT'],
    links: {
      job: '{APPVEYOR_URL}/project/{APPVEYOR_ACCOUNT_NAME}/{APPVEYOR_PROJECT_SLUG}/builds/{APPVEYOR_BUILD_ID}/job/{APPVEYOR_JOB_ID}',
    },
  },
  {
    // Steps of `matrix:`, numbered by the user. DRONE_BRANCH of a pull request is its base. A restart creates a new build.
    name: 'Drone',
    marks: ['DRONE'],
    buildId: ['DRONE_BUILD_NUMBER'],
    branch: ['DRONE_SOURCE_BRANCH', 'DRONE_BRANCH'],
    commitHash: ['DRONE_COMMIT_SHA'],
    links: { job: '{DRONE_BUILD_LINK}', repository: '{DRONE_REPO_LINK}' },
  },
  {
    // Woodpecker descends from Drone.
    name: 'Woodpecker CI',
    marks: [{ name: 'CI', value: 'woodpecker' }],
    buildId: ['CI_PIPELINE_NUMBER'],
    branch: ['CI_COMMIT_SOURCE_BRANCH', 'CI_COMMIT_BRANCH'],
    commitHash: ['CI_COMMIT_SHA'],
    links: { job: '{CI_STEP_URL}', repository: '{CI_REPO_URL}' },
  },
  {
    // A matrix, numbered by the user.
    name: 'Codefresh',
    marks: ['CF_BUILD_ID'],
    buildId: ['CF_BUILD_ID'],
    branch: ['CF_BRANCH'],
    commitHash: ['CF_REVISION'],
    links: { job: '{CF_BUILD_URL}', commit: '{CF_COMMIT_URL}' },
  },
  {
    // `parallel: N` of a workflow in a pipeline, from 0.
    name: 'Bitrise',
    marks: ['BITRISE_IO'],
    nodeIndex: ['BITRISE_IO_PARALLEL_INDEX'],
    nodeTotal: ['BITRISE_IO_PARALLEL_TOTAL'],
    buildId: ['BITRISEIO_PIPELINE_ID'],
    branch: ['BITRISE_GIT_BRANCH'],
    commitHash: [hash('BITRISE_GIT_COMMIT')],
    links: { job: '{BITRISE_BUILD_URL}', repository: '{GIT_REPOSITORY_URL}' },
  },
  {
    // CI_NODE_INDEX and CI_NODE_TOTAL count all tasks of the build, also those without tests: the user numbers the matrix. A retried task
    // keeps the build. CIRRUS_BRANCH of a pull request is pull/12.
    name: 'Cirrus CI',
    marks: ['CIRRUS_CI'],
    nodeIndex: [],
    nodeTotal: [],
    buildId: ['CIRRUS_BUILD_ID'],
    branch: ['CIRRUS_BRANCH'],
    commitHash: ['CIRRUS_CHANGE_IN_REPO'],
    links: { job: 'https://cirrus-ci.com/task/{CIRRUS_TASK_ID}', repository: '{CIRRUS_REPO_CLONE_URL}' },
  },
  {
    // Parallel test runs, from 0.
    name: 'Heroku CI',
    marks: ['HEROKU_TEST_RUN_ID'],
    buildId: ['HEROKU_TEST_RUN_ID'],
    branch: ['HEROKU_TEST_RUN_BRANCH'],
    commitHash: ['HEROKU_TEST_RUN_COMMIT_VERSION'],
  },
  {
    // The builds of a batch share no id: whatever starts the batch must set BALLAST_BUILD_ID.
    name: 'AWS CodeBuild',
    marks: ['CODEBUILD_BUILD_ARN'],
    branch: [reference('CODEBUILD_WEBHOOK_HEAD_REF')],
    commitHash: ['CODEBUILD_RESOLVED_SOURCE_VERSION'],
    links: { job: '{CODEBUILD_BUILD_URL}', repository: '{CODEBUILD_SOURCE_REPO_URL}' },
  },
  {
    // Parallel tests have neither branch nor id in variables: parameters of the build must set BALLAST_*.
    name: 'TeamCity',
    marks: ['TEAMCITY_VERSION'],
    commitHash: ['BUILD_VCS_NUMBER'],
  },
  {
    // Parallel stages of one build, numbered by the Jenkinsfile. BRANCH_NAME of a pull request is PR-12. A retried stage keeps the build.
    // Jenkins is last, because it sometimes runs agents of other systems.
    name: 'Jenkins',
    marks: ['JENKINS_URL'],
    buildId: ['BUILD_TAG'],
    branch: ['CHANGE_BRANCH', 'BRANCH_NAME', remote('GIT_BRANCH')],
    commitHash: ['GIT_COMMIT'],
    links: { job: '{BUILD_URL}', repository: '{GIT_URL}' },
  },
];

export const systems: readonly CiSystem[] = known.map(system => ({ ...defaults, ...system }));

export const unknownSystem: CiSystem = { name: 'no known CI system', marks: [], ...defaults };

/** Reports whether the variables are those of a job of the system. */
export function isHere({ marks }: CiSystem, environment: Environment): boolean {
  return marks.every(mark => (typeof mark === 'string' ? environment[mark] : environment[mark.name] === mark.value));
}
