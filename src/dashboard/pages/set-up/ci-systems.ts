import { azure, bitbucket, buildkite, circle, github, gitlab, jenkins, numberedShell, semaphore, shell, type Values } from './jobs.js';

/** A CI system, as the set-up page needs it. */
export interface CiSystem {
  id: string;
  /** As in node/ci/systems.ts. */
  name: string;
  /** The variable that has the id of the CI run; null: the user sets one. */
  run: string | null;
  /** Clients of Knapsack Pro know the CI run of this system. */
  isRunKnown?: boolean;
  /** Clients of Knapsack Pro repeat a queue here only when they are set to. */
  needsFixedQueue?: boolean;
  /** Place in which the secret is stored. */
  secretPlace: string;
  /** The file that the snippet is for; null: a step of a job. */
  file: string | null;
  job: (values: Values) => string;
}

const SETTINGS = 'the secrets of the project';

const system = (id: string, name: string, run: string | null, more: Partial<CiSystem> = {}): CiSystem => ({
  id,
  name,
  run,
  secretPlace: SETTINGS,
  file: null,
  job: shell,
  ...more,
});

/** The systems of the guide ci-systems.md, those with a whole job first. */
export const ciSystems: readonly CiSystem[] = [
  system('github', 'GitHub Actions', 'GITHUB_RUN_ID', {
    isRunKnown: true,
    secretPlace: 'Settings, Secrets and variables, Actions',
    file: '.github/workflows/test.yml',
    job: github,
  }),
  system('gitlab', 'GitLab CI', 'CI_PIPELINE_ID', {
    isRunKnown: true,
    secretPlace: 'Settings, CI/CD, Variables (masked)',
    file: '.gitlab-ci.yml',
    job: gitlab,
  }),
  system('circleci', 'CircleCI', 'CIRCLE_WORKFLOW_WORKSPACE_ID', {
    needsFixedQueue: true,
    secretPlace: 'Project Settings, Environment Variables',
    file: '.circleci/config.yml',
    job: circle,
  }),
  system('buildkite', 'Buildkite', 'BUILDKITE_BUILD_ID', {
    isRunKnown: true,
    secretPlace: 'the environment hook of the agent, or Buildkite secrets',
    file: '.buildkite/pipeline.yml',
    job: buildkite,
  }),
  system('jenkins', 'Jenkins', 'BUILD_TAG', {
    secretPlace: 'Manage Jenkins, Credentials (secret text)',
    file: 'Jenkinsfile',
    job: jenkins,
  }),
  system('azure', 'Azure Pipelines', 'BUILD_BUILDID', {
    secretPlace: 'the variables of the pipeline (secret)',
    file: 'azure-pipelines.yml',
    job: azure,
  }),
  system('bitbucket', 'Bitbucket Pipelines', 'BITBUCKET_PIPELINE_UUID', {
    secretPlace: 'Repository settings, Repository variables (secured)',
    file: 'bitbucket-pipelines.yml',
    job: bitbucket,
  }),
  system('semaphore', 'Semaphore 2', 'SEMAPHORE_WORKFLOW_ID', {
    needsFixedQueue: true,
    secretPlace: 'the secrets of the organization, in one named ballast',
    file: '.semaphore/semaphore.yml',
    job: semaphore,
  }),
  system('gitea', 'Gitea Actions', 'GITHUB_RUN_ID', {
    isRunKnown: true,
    secretPlace: 'Settings, Actions, Secrets',
    file: '.gitea/workflows/test.yml',
    job: github,
  }),
  system('bitrise', 'Bitrise', 'BITRISEIO_PIPELINE_ID'),
  system('heroku', 'Heroku CI', 'HEROKU_TEST_RUN_ID', { needsFixedQueue: true }),
  system('cirrus', 'Cirrus CI', 'CIRRUS_BUILD_ID', { needsFixedQueue: true, job: numberedShell }),
  system('travis', 'Travis CI', 'TRAVIS_BUILD_ID', { job: numberedShell }),
  system('appveyor', 'AppVeyor', 'APPVEYOR_BUILD_ID', { needsFixedQueue: true, job: numberedShell }),
  system('drone', 'Drone', 'DRONE_BUILD_NUMBER', { job: numberedShell }),
  system('woodpecker', 'Woodpecker CI', 'CI_PIPELINE_NUMBER', { job: numberedShell }),
  system('codefresh', 'Codefresh', 'CF_BUILD_ID', { needsFixedQueue: true, job: numberedShell }),
  system('codebuild', 'AWS CodeBuild', null, { job: numberedShell }),
  system('teamcity', 'TeamCity', null, { job: numberedShell }),
  system('other', 'Another system', null, { job: numberedShell }),
];

/** The CI system with an id; the first one if there is none. */
export const ciSystemOf = (id: string | null): CiSystem => ciSystems.find(system => system.id === id) ?? ciSystems[0]!;
