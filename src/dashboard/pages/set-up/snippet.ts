import type { CiSystem } from './ci-systems.js';
import type { Runner } from './runners.js';

/** Setting that the reader's own server fills in. */
export interface Setting {
  /** The address of the server for clients. */
  url: string;
  nodes: number;
  /** A token that was just created; null: it is not known. */
  token: string | null;
}

/** The variable, and the secret of the CI system, that have the token. */
export const secretOf = (runner: Runner): string =>
  runner.client === 'ballast' ? 'BALLAST_TOKEN' : `KNAPSACK_PRO_TEST_SUITE_TOKEN_${runner.suffix}`;

/** A job of a CI system that runs a suite on parallel nodes, or, for a system whose jobs are not known, its step. */
export function snippetOf(system: CiSystem, runner: Runner, setting: Setting): string {
  const secret = secretOf(runner);
  const [address, prefix, before] =
    runner.client === 'ballast'
      ? ['BALLAST_URL', 'BALLAST', ['curl -fsSO --retry 6 --retry-connrefused "$BALLAST_URL/ballast.mjs"', ...runOfBallast(system)]]
      : ['KNAPSACK_PRO_ENDPOINT', 'KNAPSACK_PRO_CI', runOfClients(system)];
  return `${system.job({ ...setting, address, prefix, secret, script: [...before, runner.script].join('\n') })}\n`;
}

const SAME_ON_ALL = '# the same on all nodes of a CI run, also when they are retried';

const runOfBallast = ({ run }: CiSystem): string[] => (run === null ? [SAME_ON_ALL, 'export BALLAST_BUILD_ID=1'] : []);

/** Newer clients read the first variable, older ones the second. */
function runOfClients({ run, isRunKnown, needsFixedQueue }: CiSystem): string[] {
  const value = run === null ? '1' : `"$${run}"`;
  return [
    ...(run === null ? [SAME_ON_ALL] : []),
    ...(isRunKnown ? [] : [`export KNAPSACK_PRO_TEST_QUEUE_ID=${value} KNAPSACK_PRO_CI_NODE_BUILD_ID=${value}`]),
    ...(needsFixedQueue ? ['export KNAPSACK_PRO_FIXED_QUEUE_SPLIT=true'] : []),
  ];
}
