import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../src/base/usage-error.js';
import type { Checkout } from '../../../src/node/ci/git.js';
import { type Identity, type IdentityOptions, identify, wholeIdentity } from '../../../src/node/ci/identity.js';
import { type Environment, systems } from '../../../src/node/ci/systems.js';

const noGit: Checkout = { branch: () => null, commitHash: () => null };
const git: Checkout = { branch: () => 'of-git', commitHash: () => 'c-of-git' };
const identifyNode = (environment: Environment, options: IdentityOptions = {}, checkout = noGit) =>
  identify(wholeIdentity, { ...options, environment }, checkout);
const parse = (variables: string): Record<string, string> =>
  Object.fromEntries((variables.match(/\S+/g) ?? []).map(variable => variable.split('=') as [string, string]));
const numbered = 'CI_NODE_INDEX=1 CI_NODE_TOTAL=4';
const second: Identity = { node_index: 1, node_total: 4, build_id: 'given', branch: 'topic', commit_hash: 'c1' };

/**
 * The variables of each system for the second of four nodes, in a pull request if the system has them. Behind the system stands what
 * differs from `second` in the identity.
 */
const systemTexts = `
GitHub Actions: build_id=77
  GITHUB_ACTIONS=true GITHUB_RUN_ID=77 GITHUB_RUN_ATTEMPT=2 GITHUB_HEAD_REF=topic GITHUB_REF_NAME=12/merge GITHUB_SHA=c1 ${numbered}
GitHub Actions: build_id=77
  GITHUB_ACTIONS=true GITHUB_RUN_ID=77 GITHUB_HEAD_REF= GITHUB_REF_NAME=topic GITHUB_SHA=c1 ${numbered}
Gitea Actions: build_id=77
  GITEA_ACTIONS=true GITHUB_ACTIONS=true GITHUB_RUN_ID=77 GITHUB_REF_NAME=topic GITHUB_SHA=c1 ${numbered}
GitLab CI: build_id=9
  GITLAB_CI=true CI_NODE_INDEX=2 CI_NODE_TOTAL=4 CI_PIPELINE_ID=9 CI_JOB_ID=5 CI_MERGE_REQUEST_SOURCE_BRANCH_NAME=topic
  CI_COMMIT_REF_NAME=refs/merge-requests/1 CI_COMMIT_SHA=c1
GitLab CI: build_id=9 node_index=0
  GITLAB_CI=true CI_NODE_INDEX=1 CI_NODE_TOTAL=4 CI_PIPELINE_ID=9 CI_COMMIT_REF_NAME=topic CI_COMMIT_SHA=c1
CircleCI: build_id=w
  CIRCLECI=true CIRCLE_NODE_INDEX=1 CIRCLE_NODE_TOTAL=4 CIRCLE_WORKFLOW_ID=again CIRCLE_WORKFLOW_WORKSPACE_ID=w CIRCLE_BUILD_NUM=3
  CIRCLE_BRANCH=topic CIRCLE_SHA1=c1
Buildkite: build_id=b commit_hash=c0ffee1
  BUILDKITE=true BUILDKITE_PARALLEL_JOB=1 BUILDKITE_PARALLEL_JOB_COUNT=4 BUILDKITE_BUILD_ID=b BUILDKITE_JOB_ID=j
  BUILDKITE_RETRY_COUNT=1 BUILDKITE_BRANCH=topic BUILDKITE_COMMIT=c0ffee1
Buildkite: build_id=b commit_hash=c-of-git
  BUILDKITE=true BUILDKITE_PARALLEL_JOB=1 BUILDKITE_PARALLEL_JOB_COUNT=4 BUILDKITE_BUILD_ID=b BUILDKITE_BRANCH=topic
  BUILDKITE_COMMIT=HEAD
Azure Pipelines: build_id=8
  TF_BUILD=True SYSTEM_JOBPOSITIONINPHASE=2 SYSTEM_TOTALJOBSINPHASE=4 BUILD_BUILDID=8 SYSTEM_PULLREQUEST_SOURCEBRANCH=refs/heads/topic
  SYSTEM_PULLREQUEST_SOURCECOMMITID=head BUILD_SOURCEBRANCH=refs/pull/1/merge BUILD_SOURCEVERSION=c1
Azure Pipelines: build_id=8 node_index=0
  TF_BUILD=True SYSTEM_JOBPOSITIONINPHASE=1 SYSTEM_TOTALJOBSINPHASE=4 BUILD_BUILDID=8 BUILD_SOURCEBRANCH=refs/heads/topic
  BUILD_SOURCEVERSION=c1
Bitbucket Pipelines: build_id={u}
  BITBUCKET_BUILD_NUMBER=6 BITBUCKET_PIPELINE_UUID={u} BITBUCKET_PARALLEL_STEP=1 BITBUCKET_PARALLEL_STEP_COUNT=4
  BITBUCKET_BRANCH=topic BITBUCKET_COMMIT=c1
Semaphore 2: build_id=s
  SEMAPHORE=true SEMAPHORE_WORKFLOW_ID=s SEMAPHORE_JOB_INDEX=2 SEMAPHORE_JOB_COUNT=4 SEMAPHORE_GIT_BRANCH=main
  SEMAPHORE_GIT_PR_BRANCH=topic SEMAPHORE_GIT_PR_SHA=head SEMAPHORE_GIT_SHA=c1
Travis CI: build_id=5
  TRAVIS=true TRAVIS_BUILD_ID=5 TRAVIS_BRANCH=main TRAVIS_PULL_REQUEST_BRANCH=topic TRAVIS_COMMIT=c1 TRAVIS_PULL_REQUEST_SHA=head
  ${numbered}
AppVeyor: build_id=4
  APPVEYOR=True APPVEYOR_BUILD_ID=4 APPVEYOR_REPO_BRANCH=main APPVEYOR_PULL_REQUEST_HEAD_REPO_BRANCH=topic APPVEYOR_REPO_COMMIT=c1
  APPVEYOR_PULL_REQUEST_HEAD_COMMIT=head ${numbered}
Drone: build_id=3
  DRONE=true DRONE_BUILD_NUMBER=3 DRONE_BRANCH=main DRONE_SOURCE_BRANCH=topic DRONE_COMMIT_SHA=c1 ${numbered}
Woodpecker CI: build_id=3
  CI=woodpecker CI_PIPELINE_NUMBER=3 CI_COMMIT_BRANCH=main CI_COMMIT_SOURCE_BRANCH=topic CI_COMMIT_SHA=c1 ${numbered}
Codefresh: build_id=f
  CF_BUILD_ID=f CF_BRANCH=topic CF_REVISION=c1 ${numbered}
Bitrise: build_id=p commit_hash=c0ffee1
  BITRISE_IO=true BITRISEIO_PIPELINE_ID=p BITRISE_IO_PARALLEL_INDEX=1 BITRISE_IO_PARALLEL_TOTAL=4 BITRISE_GIT_BRANCH=topic
  BITRISE_GIT_COMMIT=c0ffee1
Cirrus CI: build_id=r
  CIRRUS_CI=true CIRRUS_BUILD_ID=r CIRRUS_BRANCH=topic CIRRUS_CHANGE_IN_REPO=c1 CI_NODE_INDEX=2 CI_NODE_TOTAL=9
Heroku CI: build_id=h
  HEROKU_TEST_RUN_ID=h HEROKU_TEST_RUN_BRANCH=topic HEROKU_TEST_RUN_COMMIT_VERSION=c1 ${numbered}
AWS CodeBuild:
  CODEBUILD_BUILD_ARN=arn CODEBUILD_WEBHOOK_HEAD_REF=refs/heads/topic CODEBUILD_RESOLVED_SOURCE_VERSION=c1 ${numbered}
TeamCity: branch=of-git
  TEAMCITY_VERSION=2026.1 BUILD_VCS_NUMBER=c1 ${numbered}
Jenkins: build_id=jenkins-app-5
  JENKINS_URL=http://j BUILD_TAG=jenkins-app-5 BRANCH_NAME=PR-1 CHANGE_BRANCH=topic GIT_COMMIT=c1 ${numbered}
Jenkins: build_id=jenkins-app-5
  JENKINS_URL=http://j BUILD_TAG=jenkins-app-5 GIT_BRANCH=origin/topic GIT_COMMIT=c1 ${numbered}
`;

const builds = systemTexts
  .trim()
  .split(/\n(?=\S)/)
  .map(text => {
    const [title, ...variables] = text.split('\n');
    const [system, differences] = title!.split(':') as [string, string];
    const { node_index = '1', ...texts } = parse(differences);
    return [system, parse(variables.join(' ')), { ...second, ...texts, node_index: Number(node_index) }] as const;
  });

describe('a node of a CI run', () => {
  it.each(builds)('on %s is identified by its variables', (_, environment, expected) => {
    const options = {
      ...(expected.build_id === 'given' && { buildId: 'given' }),
      ...(environment.CIRRUS_CI && { nodeIndex: '1', nodeTotal: '4' }),
    };
    expect(identifyNode(environment, options, git)).toEqual(expected);
  });

  it('is tested for every CI system', () => {
    expect(new Set(builds.map(([name]) => name))).toEqual(new Set(systems.map(({ name }) => name)));
  });

  it('takes flags and BALLAST_ variables first', () => {
    const options = { nodeIndex: '3', nodeTotal: '8', buildId: 'own', branch: 'mine', commitHash: 'c2' };
    expect(identifyNode(builds[0]![1], options)).toEqual({
      node_index: 3,
      node_total: 8,
      build_id: 'own',
      branch: 'mine',
      commit_hash: 'c2',
    });
  });

  it('takes branch and commit from git if nothing else has them', () => {
    expect(identifyNode({ ...parse(numbered), BALLAST_BRANCH: '' }, { buildId: '1' }, git)).toEqual({
      ...second,
      build_id: '1',
      branch: 'of-git',
      commit_hash: 'c-of-git',
    });
    const notAsked: Checkout = { branch: () => expect.unreachable(), commitHash: () => expect.unreachable() };
    expect(identifyNode(builds[0]![1], {}, notAsked)).toEqual(builds[0]![2]);
  });

  it('fails with all missing values and the variables that were tried', () => {
    const errorsOf = (environment: Environment, options: IdentityOptions = {}): readonly string[] => {
      try {
        identifyNode(environment, options);
      } catch (error) {
        expect(error).toBeInstanceOf(UsageError);
        return (error as UsageError).errors;
      }
      return [];
    };
    expect(errorsOf({ GITHUB_ACTIONS: 'true', GITHUB_RUN_ID: '7', GITHUB_SHA: 'c1' })).toEqual([
      'the index of this node (from 0) is not known: give --node-index <number> or set BALLAST_NODE_INDEX; tried CI_NODE_INDEX (GitHub Actions)',
      'the number of nodes is not known: give --node-total <number> or set BALLAST_NODE_TOTAL; tried CI_NODE_TOTAL (GitHub Actions)',
      'the branch is not known: give --branch <name> or set BALLAST_BRANCH; tried GITHUB_HEAD_REF, GITHUB_REF_NAME (GitHub Actions), and git does not know it either',
    ]);
    expect(errorsOf({ CODEBUILD_BUILD_ARN: 'a', ...parse(numbered) }, { branch: 'b', commitHash: 'c' })).toEqual([
      'the id of the CI run (the same for all its nodes) is not known: give --build-id <id> or set BALLAST_BUILD_ID (AWS CodeBuild does not set it)',
    ]);
    expect(errorsOf(parse(numbered), { branch: 'b', commitHash: 'c' })).toEqual([
      'the id of the CI run (the same for all its nodes) is not known: give --build-id <id> or set BALLAST_BUILD_ID',
    ]);
    const full = { branch: 'b', commitHash: 'c', buildId: '1' };
    expect(errorsOf({}, { ...full, nodeIndex: '4', nodeTotal: '4' })).toEqual([
      'the index of this node is 4, but the last of 4 nodes has the index 3',
    ]);
    expect(errorsOf({}, { ...full, nodeIndex: '-1', nodeTotal: '0' })).toHaveLength(2);
    // GitLab counts from 1, so index 5 of 4 is invalid.
    expect(errorsOf({ GITLAB_CI: 'true', CI_NODE_INDEX: '5', CI_NODE_TOTAL: '4' }, full)).toHaveLength(1);
  });

  it('needs no index if it is the only node', () => {
    expect(identifyNode({ GITLAB_CI: 'true', CI_NODE_TOTAL: '1', CI_PIPELINE_ID: '9' }, {}, git)).toMatchObject({
      node_index: 0,
      node_total: 1,
    });
  });

  it('needs only the requested values', () => {
    expect(identify(['node_total'], { environment: { CI_NODE_TOTAL: '4' } }, noGit)).toEqual({ node_total: 4 });
  });
});
