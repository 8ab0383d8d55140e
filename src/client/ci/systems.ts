import { type CiSystem, countsFrom, fromOne, hash, isSet, reference, remote, variable } from './system.js';

/** The conventional variables of users who number parallel jobs themselves, because the system does not. */
const userNumbering = { nodeIndex: [variable('CI_NODE_INDEX')], nodeTotal: [variable('CI_NODE_TOTAL')] };

/**
 * The variables of each CI system, from its documentation. The first system whose variables are set counts. The commit is the one that is
 * checked out, even if it merges a pull request with its base for this CI run: another base gives another suite, which needs another split.
 */
export const systems: readonly CiSystem[] = [
  {
    // No variable has the index of a matrix job: set BALLAST_NODE_INDEX: ${{ strategy.job-index }}. A rerun keeps GITHUB_RUN_ID (and counts
    // GITHUB_RUN_ATTEMPT). GITHUB_REF_NAME of a pull request is 12/merge. Gitea and Forgejo set the same variables.
    name: 'GitHub Actions',
    isHere: isSet('GITHUB_ACTIONS'),
    ...userNumbering,
    buildId: [variable('GITHUB_RUN_ID')],
    isRerun: countsFrom('GITHUB_RUN_ATTEMPT', 1),
    branch: [variable('GITHUB_HEAD_REF'), variable('GITHUB_REF_NAME')],
    commitHash: [variable('GITHUB_SHA')],
  },
  {
    // `parallel: N`, counted from 1; other jobs have CI_NODE_TOTAL 1 and no index. A retried job keeps the pipeline (and gets a new CI_JOB_ID).
    name: 'GitLab CI',
    isHere: isSet('GITLAB_CI'),
    nodeIndex: [fromOne('CI_NODE_INDEX')],
    nodeTotal: [variable('CI_NODE_TOTAL')],
    buildId: [variable('CI_PIPELINE_ID')],
    branch: [
      variable('CI_MERGE_REQUEST_SOURCE_BRANCH_NAME'),
      variable('CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME'),
      variable('CI_COMMIT_REF_NAME'),
    ],
    commitHash: [variable('CI_COMMIT_SHA')],
  },
  {
    // `parallelism: N`, from 0. A rerun, from the start or of failed jobs, creates a new workflow in the workspace of the old one.
    name: 'CircleCI',
    isHere: isSet('CIRCLECI'),
    nodeIndex: [variable('CIRCLE_NODE_INDEX')],
    nodeTotal: [variable('CIRCLE_NODE_TOTAL')],
    buildId: [variable('CIRCLE_WORKFLOW_WORKSPACE_ID'), variable('CIRCLE_WORKFLOW_ID')],
    isRerun: ({ CIRCLE_WORKFLOW_ID: workflow, CIRCLE_WORKFLOW_WORKSPACE_ID: first = workflow }) => workflow !== first,
    branch: [variable('CIRCLE_BRANCH'), variable('CIRCLE_TAG')],
    commitHash: [variable('CIRCLE_SHA1')],
  },
  {
    // `parallelism: N`, from 0. A retried job keeps the build (and counts BUILDKITE_RETRY_COUNT). A build that was started by hand may have
    // the commit "HEAD": Git knows the hash.
    name: 'Buildkite',
    isHere: isSet('BUILDKITE'),
    nodeIndex: [variable('BUILDKITE_PARALLEL_JOB')],
    nodeTotal: [variable('BUILDKITE_PARALLEL_JOB_COUNT')],
    buildId: [variable('BUILDKITE_BUILD_ID')],
    isRerun: countsFrom('BUILDKITE_RETRY_COUNT', 0),
    branch: [variable('BUILDKITE_BRANCH')],
    commitHash: [hash('BUILDKITE_COMMIT')],
  },
  {
    // `strategy: parallel: N`, counted from 1. A retried job keeps the build (and counts SYSTEM_JOBATTEMPT).
    name: 'Azure Pipelines',
    isHere: isSet('TF_BUILD'),
    nodeIndex: [fromOne('SYSTEM_JOBPOSITIONINPHASE')],
    nodeTotal: [variable('SYSTEM_TOTALJOBSINPHASE')],
    buildId: [variable('BUILD_BUILDID')],
    isRerun: countsFrom('SYSTEM_JOBATTEMPT', 1),
    branch: [reference('SYSTEM_PULLREQUEST_SOURCEBRANCH'), reference('BUILD_SOURCEBRANCH')],
    commitHash: [variable('BUILD_SOURCEVERSION')],
  },
  {
    // `parallel:` steps, from 0. A retried step keeps the pipeline (and counts BITBUCKET_STEP_RUN_NUMBER).
    name: 'Bitbucket Pipelines',
    isHere: isSet('BITBUCKET_BUILD_NUMBER'),
    nodeIndex: [variable('BITBUCKET_PARALLEL_STEP')],
    nodeTotal: [variable('BITBUCKET_PARALLEL_STEP_COUNT')],
    buildId: [variable('BITBUCKET_PIPELINE_UUID'), variable('BITBUCKET_BUILD_NUMBER')],
    isRerun: countsFrom('BITBUCKET_STEP_RUN_NUMBER', 1),
    branch: [variable('BITBUCKET_BRANCH'), variable('BITBUCKET_TAG')],
    commitHash: [variable('BITBUCKET_COMMIT')],
  },
  {
    // `parallelism: N`, counted from 1. A retried pipeline keeps the workflow; a retried workflow is a new one. SEMAPHORE_GIT_BRANCH of a
    // pull request is its base.
    name: 'Semaphore 2',
    isHere: environment => Boolean(environment.SEMAPHORE && environment.SEMAPHORE_WORKFLOW_ID),
    nodeIndex: [fromOne('SEMAPHORE_JOB_INDEX')],
    nodeTotal: [variable('SEMAPHORE_JOB_COUNT')],
    buildId: [variable('SEMAPHORE_WORKFLOW_ID')],
    branch: [variable('SEMAPHORE_GIT_PR_BRANCH'), variable('SEMAPHORE_GIT_WORKING_BRANCH'), variable('SEMAPHORE_GIT_BRANCH')],
    commitHash: [variable('SEMAPHORE_GIT_SHA')],
  },
  {
    // A matrix, numbered by the user. A retried job keeps the build. TRAVIS_BRANCH of a pull request is its base.
    name: 'Travis CI',
    isHere: isSet('TRAVIS'),
    ...userNumbering,
    buildId: [variable('TRAVIS_BUILD_ID')],
    branch: [variable('TRAVIS_PULL_REQUEST_BRANCH'), variable('TRAVIS_BRANCH')],
    commitHash: [variable('TRAVIS_COMMIT')],
  },
  {
    // A matrix, numbered by the user. A rebuild keeps the build. APPVEYOR_REPO_BRANCH of a pull request is its base.
    name: 'AppVeyor',
    isHere: isSet('APPVEYOR'),
    ...userNumbering,
    buildId: [variable('APPVEYOR_BUILD_ID')],
    branch: [variable('APPVEYOR_PULL_REQUEST_HEAD_REPO_BRANCH'), variable('APPVEYOR_REPO_BRANCH')],
    commitHash: [variable('APPVEYOR_REPO_COMMIT')],
  },
  {
    // Steps of `matrix:`, numbered by the user. DRONE_BRANCH of a pull request is its base. A restart creates a new build.
    name: 'Drone',
    isHere: isSet('DRONE'),
    ...userNumbering,
    buildId: [variable('DRONE_BUILD_NUMBER')],
    branch: [variable('DRONE_SOURCE_BRANCH'), variable('DRONE_BRANCH')],
    commitHash: [variable('DRONE_COMMIT_SHA')],
  },
  {
    // Woodpecker descends from Drone.
    name: 'Woodpecker CI',
    isHere: environment => environment.CI === 'woodpecker',
    ...userNumbering,
    buildId: [variable('CI_PIPELINE_NUMBER')],
    branch: [variable('CI_COMMIT_SOURCE_BRANCH'), variable('CI_COMMIT_BRANCH')],
    commitHash: [variable('CI_COMMIT_SHA')],
  },
  {
    // A matrix, numbered by the user.
    name: 'Codefresh',
    isHere: isSet('CF_BUILD_ID'),
    ...userNumbering,
    buildId: [variable('CF_BUILD_ID')],
    branch: [variable('CF_BRANCH')],
    commitHash: [variable('CF_REVISION')],
  },
  {
    // `parallel: N` of a workflow in a pipeline, from 0.
    name: 'Bitrise',
    isHere: isSet('BITRISE_IO'),
    nodeIndex: [variable('BITRISE_IO_PARALLEL_INDEX')],
    nodeTotal: [variable('BITRISE_IO_PARALLEL_TOTAL')],
    buildId: [variable('BITRISEIO_PIPELINE_ID')],
    branch: [variable('BITRISE_GIT_BRANCH')],
    commitHash: [hash('BITRISE_GIT_COMMIT')],
  },
  {
    // CI_NODE_INDEX and CI_NODE_TOTAL count all tasks of the build, also those without tests: the user numbers the matrix. A retried task
    // keeps the build. CIRRUS_BRANCH of a pull request is pull/12.
    name: 'Cirrus CI',
    isHere: isSet('CIRRUS_CI'),
    nodeIndex: [],
    nodeTotal: [],
    buildId: [variable('CIRRUS_BUILD_ID')],
    branch: [variable('CIRRUS_BRANCH')],
    commitHash: [variable('CIRRUS_CHANGE_IN_REPO')],
  },
  {
    // Parallel test runs, from 0.
    name: 'Heroku CI',
    isHere: isSet('HEROKU_TEST_RUN_ID'),
    ...userNumbering,
    buildId: [variable('HEROKU_TEST_RUN_ID')],
    branch: [variable('HEROKU_TEST_RUN_BRANCH')],
    commitHash: [variable('HEROKU_TEST_RUN_COMMIT_VERSION')],
  },
  {
    // The builds of a batch share no id: whatever starts the batch must set BALLAST_BUILD_ID.
    name: 'AWS CodeBuild',
    isHere: isSet('CODEBUILD_BUILD_ARN'),
    ...userNumbering,
    buildId: [],
    branch: [reference('CODEBUILD_WEBHOOK_HEAD_REF')],
    commitHash: [variable('CODEBUILD_RESOLVED_SOURCE_VERSION')],
  },
  {
    // Parallel tests have neither branch nor id in variables: parameters of the build must set BALLAST_*.
    name: 'TeamCity',
    isHere: isSet('TEAMCITY_VERSION'),
    ...userNumbering,
    buildId: [],
    branch: [],
    commitHash: [variable('BUILD_VCS_NUMBER')],
  },
  {
    // Parallel stages of one build, numbered by the Jenkinsfile. BRANCH_NAME of a pull request is PR-12. A retried stage keeps the build.
    // Jenkins is last, because it sometimes runs agents of other systems.
    name: 'Jenkins',
    isHere: isSet('JENKINS_URL'),
    ...userNumbering,
    buildId: [variable('BUILD_TAG')],
    branch: [variable('CHANGE_BRANCH'), variable('BRANCH_NAME'), remote('GIT_BRANCH')],
    commitHash: [variable('GIT_COMMIT')],
  },
];

export const unknownSystem: CiSystem = {
  name: 'no known CI system',
  isHere: () => true,
  ...userNumbering,
  buildId: [],
  branch: [],
  commitHash: [],
};
