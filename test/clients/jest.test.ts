import { describe, expect, it } from 'vitest';
import type { Client } from '../harness/client.js';
import { expectCompleteness } from '../harness/completeness.js';
import { sortPaths } from '../harness/messages.js';
import { startServer } from '../harness/server.js';
import { JestProject, type NodeRun } from './jest-project.js';

const NODES = 2;
const build = { commit_hash: 'c0ffee2', branch: 'main', node_total: NODES };

/** The variables of a node. */
function nodeOf(node: number, more: Record<string, string> = {}): Record<string, string> {
  return {
    KNAPSACK_PRO_COMMIT_HASH: build.commit_hash,
    KNAPSACK_PRO_BRANCH: build.branch,
    KNAPSACK_PRO_CI_NODE_TOTAL: String(NODES),
    KNAPSACK_PRO_CI_NODE_INDEX: String(node),
    ...more,
  };
}

/** Asserts that the node did not fall back to running without the server. */
function expectServed({ output }: NodeRun): void {
  expect(output).not.toMatch(/fallback|ERROR|TypeError/i);
}

/** Runs both nodes at the same time. */
const runBoth = (project: JestProject, client: string, server: Client, more: Record<string, string>) =>
  Promise.all([0, 1].map(node => project.run(client, server, nodeOf(node, more))));

/** Asserts that the gate says that all four files were recorded. */
const expectComplete = (server: Client) => expectCompleteness(server, { ...build, node_build_id: '7' }, 200, { errors: [], recorded: 4 });

async function recorded(server: Client): Promise<string[]> {
  const [{ id }] = (await server.get('/v1/builds')).json.data;
  const { build_subsets } = (await server.get(`/v1/builds/${id}`)).json;
  return build_subsets.flatMap((subset: any) => subset.test_files.map(({ path }: any) => path));
}

describe('@knapsack-pro/jest 10, which acknowledges batches', () => {
  const CLIENT = '@knapsack-pro/jest';
  const ID = { KNAPSACK_PRO_TEST_QUEUE_ID: '7' };

  it('runs each file once, and retried nodes run the files that failed or could not be loaded', { timeout: 60_000 }, async () => {
    const [server, project] = [await startServer(), new JestProject(4)];
    project.breakFile(3);
    const failing = { ...ID, FAILING: project.files[0]! };
    const nodes = await runBoth(project, CLIENT, server, failing);
    for (const { output } of nodes) expect(output).not.toMatch(/fallback/i);
    // The file that cannot be loaded runs no test.
    expect(sortPaths(nodes.flatMap(({ ran }) => ran))).toEqual(project.files.slice(0, 3));
    expect(sortPaths(await recorded(server))).toEqual(project.files);
    expect(nodes.map(({ code }) => code)).toContain(1);

    project.repairFile(3);
    const again = await runBoth(project, CLIENT, server, ID);
    again.forEach(expectServed);
    expect(again.map(({ code }) => code)).toEqual([0, 0]);
    expect(sortPaths(again.flatMap(({ ran }) => ran))).toEqual([project.files[0], project.files[3]]);
    expect(await project.run(CLIENT, server, nodeOf(0, ID))).toMatchObject({ code: 0, ran: [] });
    await expectComplete(server);
  });
});

describe('@knapsack-pro/jest 9', () => {
  const CLIENT = 'knapsack-pro-jest-9';
  const ID = { KNAPSACK_PRO_CI_NODE_BUILD_ID: '7' };

  it('runs each file once, and a retried node with a fixed split runs the same files', { timeout: 60_000 }, async () => {
    const [server, project] = [await startServer(), new JestProject(4)];
    const nodes = await runBoth(project, CLIENT, server, { ...ID, KNAPSACK_PRO_FIXED_QUEUE_SPLIT: 'false' });
    nodes.forEach(expectServed);
    expect(nodes.map(({ code }) => code)).toEqual([0, 0]);
    expect(sortPaths(nodes.flatMap(({ ran }) => ran))).toEqual(project.files);
    expect(sortPaths(await recorded(server))).toEqual(project.files);

    const retry = { ...ID, KNAPSACK_PRO_FIXED_QUEUE_SPLIT: 'true', KNAPSACK_PRO_CI_NODE_RETRY_COUNT: '1' };
    const again = await project.run(CLIENT, server, nodeOf(0, retry));
    expectServed(again);
    expect(again.code).toBe(0);
    expect(sortPaths(again.ran)).toEqual(sortPaths(nodes[0]!.ran));
    await expectComplete(server);
  });
});
