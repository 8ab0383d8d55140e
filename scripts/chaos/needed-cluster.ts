import { type Cluster, startCluster } from '../../test/testbed/postgresql.js';
import { Violation } from './invariants.js';

/** Starts a cluster of PostgreSQL. Throws a sentence when this machine has no programs of it. */
export async function neededCluster(): Promise<Cluster> {
  const cluster = await startCluster();
  if (!cluster)
    throw new Violation(
      'this machine has no PostgreSQL, which more than one process needs: install its npm package, or PostgreSQL 14 or later',
    );
  return cluster;
}
