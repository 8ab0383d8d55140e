import type { BuildKey } from '../wire/build-key.js';
import { buildIdKey } from './builds.js';
import { digest } from './digest.js';
import type { Store } from './open.js';

/** The keys under which a request finds its queue. */
export interface QueueKeys {
  /** Of the build and its node_build_id: names the queue, and tells the runs of a node apart. */
  readonly nodeBuild: string;
  /** Of the build, whichever its node_build_id: where a fixed split is looked for. */
  readonly build: string;
}

export function queueKeys(project: number, key: BuildKey, node_build_id: string): QueueKeys {
  const { commit_hash, branch, node_total } = key;
  return {
    nodeBuild: digest(project, commit_hash, branch, node_total, node_build_id),
    // Pulls do not ask for it.
    get build() {
      return buildIdKey(project, key);
    },
  };
}

/** The queue of the build's node_build_id, null when there is none. */
export function findQueue(store: Store, { nodeBuild }: QueueKeys): string | null {
  return store.queuesOfNodeBuild.get(nodeBuild) ?? null;
}

/** The newest queue of the build, whichever its node_build_id: what a fixed split repeats. */
export function findLastQueue(store: Store, { build }: QueueKeys): string | null {
  return store.queuesOfBuild.get(build) ?? null;
}
