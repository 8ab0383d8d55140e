import { spawnSync } from 'node:child_process';
import { redisVersion } from './redis.js';

/** Programs of the generators, which are worker processes. */
export const generators = {
  wrk: 'bench/load/wrk-generator.js',
  sockets: 'bench/load/socket-generator.js',
  autocannon: 'bench/load/autocannon-generator.js',
} as const;

export type GeneratorName = keyof typeof generators;

/** Optional programs of the machine. */
export interface Installed {
  wrk: boolean;
  /** The version of redis-server; null: there is none. */
  redis: string | null;
}

export function findInstalled(): Installed {
  return { wrk: spawnSync('wrk', ['--version'], { stdio: 'ignore' }).error === undefined, redis: redisVersion() };
}

/** A comparison of a trial: with which generator, and whether with the peer. */
export interface PlannedComparison {
  generator: GeneratorName;
  withPeer: boolean;
}

/**
 * The comparisons of a trial. The first has the cheapest generator: wrk where it is installed. The peer does not speak HTTP, so raw sockets
 * load all servers beside it. autocannon takes more time for a request than a fast server does, and cannot measure how many it answers.
 */
export function plannedComparisons(hasWrk: boolean, hasPeer: boolean): PlannedComparison[] {
  return [
    ...(hasWrk ? [{ generator: 'wrk' as const, withPeer: false }] : []),
    ...(hasPeer || !hasWrk ? [{ generator: 'sockets' as const, withPeer: hasPeer }] : []),
  ];
}
