import { azure, bitbucket, buildkite, circle, github, gitlab, type Job, jenkins, semaphore, shell } from './jobs.js';

/** A CI system, as the set-up page needs it. */
export interface CiSystem {
  id: string;
  /** As in node/ci/systems.ts. */
  name: string;
  /** Null: the system numbers parallel jobs itself. Otherwise the values that the job sets. */
  numbering: { index: string; total: string } | null;
  /** The variable that has the id of the CI run; null: the user sets one. */
  run: string | null;
  /** Clients of Knapsack Pro know the CI run of this system. */
  isRunKnown?: boolean;
  /** Clients of Knapsack Pro repeat a queue here only when they are set to. */
  needsFixedQueue?: boolean;
  /** Where the secret is stored. */
  secretPlace: string;
  /** The file that the snippet is for; null: a step of a job. */
  file: string | null;
  job: (job: Job) => string[];
}

const SETTINGS = 'the secrets of the project';
const ownNumbers = { index: '0', total: 'N' };

const system = (id: string, name: string, run: string | null, more: Partial<CiSystem> = {}): CiSystem => ({
  id,
  name,
  run,
  numbering: null,
  secretPlace: SETTINGS,
  file: null,
  job: shell,
  ...more,
});

/** The systems of the guide ci-systems.md, those with a whole job first. */
export const ciSystems: readonly CiSystem[] = [
  system('github', 'GitHub Actions', 'GITHUB_RUN_ID', {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of GitHub Actions
    numbering: { index: '${{ strategy.job-index }}', total: '${{ strategy.job-total }}' },
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
    // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of Groovy
    numbering: { index: '${index}', total: '${total}' },
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
    // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of Gitea Actions
    numbering: { index: '${{ strategy.job-index }}', total: '${{ strategy.job-total }}' },
    isRunKnown: true,
    secretPlace: 'Settings, Actions, Secrets',
    file: '.gitea/workflows/test.yml',
    job: github,
  }),
  system('bitrise', 'Bitrise', 'BITRISEIO_PIPELINE_ID'),
  system('heroku', 'Heroku CI', 'HEROKU_TEST_RUN_ID', { needsFixedQueue: true }),
  system('cirrus', 'Cirrus CI', 'CIRRUS_BUILD_ID', { needsFixedQueue: true, numbering: ownNumbers }),
  system('travis', 'Travis CI', 'TRAVIS_BUILD_ID', { numbering: ownNumbers }),
  system('appveyor', 'AppVeyor', 'APPVEYOR_BUILD_ID', { needsFixedQueue: true, numbering: ownNumbers }),
  system('drone', 'Drone', 'DRONE_BUILD_NUMBER', { numbering: ownNumbers }),
  system('woodpecker', 'Woodpecker CI', 'CI_PIPELINE_NUMBER', { numbering: ownNumbers }),
  system('codefresh', 'Codefresh', 'CF_BUILD_ID', { needsFixedQueue: true, numbering: ownNumbers }),
  system('codebuild', 'AWS CodeBuild', null, { numbering: ownNumbers }),
  system('teamcity', 'TeamCity', null, { numbering: ownNumbers }),
  system('other', 'Another system', null, { numbering: ownNumbers }),
];

/** The CI system with an id; the first one if there is none. */
export const ciSystemOf = (id: string | null): CiSystem => ciSystems.find(system => system.id === id) ?? ciSystems[0]!;
