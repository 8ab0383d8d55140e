import type { NodeLinks } from '../../../src/node/ci/links.js';
import type { Environment } from '../../../src/node/ci/systems.js';

const gitHub = (repository = 'https://github.com/acme/web') => ({
  commit_url: `${repository}/commit/{commit}`,
  diff_url: `${repository}/compare/{before}...{commit}`,
});
const gitLab = {
  commit_url: 'https://gitlab.example.com/acme/web/-/commit/{commit}',
  diff_url: 'https://gitlab.example.com/acme/web/-/compare/{before}...{commit}',
};
const bitbucket = {
  commit_url: 'https://bitbucket.org/acme/web/commits/{commit}',
  diff_url: 'https://bitbucket.org/acme/web/branches/compare/{commit}..{before}',
};
const actions = { GITHUB_ACTIONS: 'true', GITHUB_REPOSITORY: 'acme/web', GITHUB_RUN_ID: '77', GITHUB_RUN_ATTEMPT: '2' };

/** The variables of CI systems with addresses, as their documentation has them, and the addresses that follow. */
export const linkedSystems: readonly (readonly [name: string, Environment, NodeLinks])[] = [
  [
    'GitHub Actions',
    { ...actions, GITHUB_SERVER_URL: 'https://github.com' },
    { job_url: 'https://github.com/acme/web/actions/runs/77/attempts/2', ...gitHub() },
  ],
  [
    'Gitea Actions',
    { ...actions, GITEA_ACTIONS: 'true', GITHUB_SERVER_URL: 'https://git.example.com/gitea' },
    gitHub('https://git.example.com/gitea/acme/web'),
  ],
  [
    'GitLab CI',
    {
      GITLAB_CI: 'true',
      CI_JOB_URL: 'https://gitlab.example.com/acme/web/-/jobs/5',
      CI_PROJECT_URL: 'https://gitlab.example.com/acme/web',
    },
    { job_url: 'https://gitlab.example.com/acme/web/-/jobs/5', ...gitLab },
  ],
  [
    'CircleCI',
    { CIRCLECI: 'true', CIRCLE_BUILD_URL: 'https://circleci.com/gh/acme/web/3', CIRCLE_REPOSITORY_URL: 'git@github.com:acme/web.git' },
    { job_url: 'https://circleci.com/gh/acme/web/3', ...gitHub() },
  ],
  [
    'Buildkite',
    {
      BUILDKITE: 'true',
      BUILDKITE_BUILD_URL: 'https://buildkite.com/acme/web/builds/1514',
      BUILDKITE_JOB_ID: 'e44f9784',
      BUILDKITE_REPO: 'git@bitbucket.org:acme/web.git',
    },
    { job_url: 'https://buildkite.com/acme/web/builds/1514#e44f9784', ...bitbucket },
  ],
  [
    'Azure Pipelines',
    {
      TF_BUILD: 'True',
      SYSTEM_COLLECTIONURI: 'https://dev.azure.com/acme/',
      SYSTEM_TEAMPROJECTID: 'p1',
      BUILD_BUILDID: '8',
      SYSTEM_JOBID: 'j1',
      BUILD_REPOSITORY_URI: 'https://acme@dev.azure.com/acme/shop/_git/web',
    },
    {
      job_url: 'https://dev.azure.com/acme/p1/_build/results?buildId=8&view=logs&j=j1',
      commit_url: 'https://dev.azure.com/acme/shop/_git/web/commit/{commit}',
    },
  ],
  [
    'Bitbucket Pipelines',
    { BITBUCKET_BUILD_NUMBER: '6', BITBUCKET_REPO_FULL_NAME: 'acme/web', BITBUCKET_STEP_UUID: '{31b3ca1c-6917}' },
    { job_url: 'https://bitbucket.org/acme/web/pipelines/results/6/steps/%7B31b3ca1c-6917%7D', ...bitbucket },
  ],
  [
    'Semaphore 2',
    {
      SEMAPHORE: 'true',
      SEMAPHORE_WORKFLOW_ID: 'w',
      SEMAPHORE_ORGANIZATION_URL: 'https://acme.semaphoreci.com',
      SEMAPHORE_JOB_ID: 'j',
      SEMAPHORE_GIT_URL: 'git@github.com:acme/web.git',
    },
    { job_url: 'https://acme.semaphoreci.com/jobs/j', ...gitHub() },
  ],
  [
    'Travis CI',
    { TRAVIS: 'true', TRAVIS_JOB_WEB_URL: 'https://app.travis-ci.com/acme/web/jobs/5' },
    { job_url: 'https://app.travis-ci.com/acme/web/jobs/5' },
  ],
  [
    'AppVeyor',
    {
      APPVEYOR: 'True',
      APPVEYOR_URL: 'https://ci.appveyor.com',
      APPVEYOR_ACCOUNT_NAME: 'acme',
      APPVEYOR_PROJECT_SLUG: 'web',
      APPVEYOR_BUILD_ID: '4',
      APPVEYOR_JOB_ID: 'j',
    },
    { job_url: 'https://ci.appveyor.com/project/acme/web/builds/4/job/j' },
  ],
  [
    'Drone',
    { DRONE: 'true', DRONE_BUILD_LINK: 'https://drone.example.com/acme/web/42', DRONE_REPO_LINK: 'https://github.com/acme/web' },
    { job_url: 'https://drone.example.com/acme/web/42', ...gitHub() },
  ],
  [
    'Woodpecker CI',
    { CI: 'woodpecker', CI_STEP_URL: 'https://ci.example.com/repos/7/pipeline/8', CI_REPO_URL: 'https://codeberg.org/acme/web' },
    { job_url: 'https://ci.example.com/repos/7/pipeline/8', ...gitHub('https://codeberg.org/acme/web') },
  ],
  [
    'Codefresh',
    { CF_BUILD_ID: 'f', CF_BUILD_URL: 'https://g.codefresh.io/build/f', CF_COMMIT_URL: 'https://github.com/acme/web/commit/c1' },
    { job_url: 'https://g.codefresh.io/build/f', commit_url: 'https://github.com/acme/web/commit/c1' },
  ],
  [
    'Bitrise',
    { BITRISE_IO: 'true', BITRISE_BUILD_URL: 'https://app.bitrise.io/build/b', GIT_REPOSITORY_URL: 'https://github.com/acme/web.git' },
    { job_url: 'https://app.bitrise.io/build/b', ...gitHub() },
  ],
  [
    'Cirrus CI',
    { CIRRUS_CI: 'true', CIRRUS_TASK_ID: '12', CIRRUS_REPO_CLONE_URL: 'https://github.com/acme/web.git' },
    { job_url: 'https://cirrus-ci.com/task/12', ...gitHub() },
  ],
  [
    'AWS CodeBuild',
    {
      CODEBUILD_BUILD_ARN: 'arn',
      CODEBUILD_BUILD_URL: 'https://eu-west-1.console.aws.amazon.com/codebuild/home?region=eu-west-1#/builds/web:1/view/new',
      CODEBUILD_SOURCE_REPO_URL: 'https://github.com/acme/web.git',
    },
    {
      job_url: 'https://eu-west-1.console.aws.amazon.com/codebuild/home?region=eu-west-1#/builds/web:1/view/new',
      ...gitHub(),
    },
  ],
  [
    'Jenkins',
    { JENKINS_URL: 'http://j', BUILD_URL: 'http://j/job/web/5/', GIT_URL: 'https://github.com/acme/web.git' },
    { job_url: 'http://j/job/web/5/', ...gitHub() },
  ],
];
