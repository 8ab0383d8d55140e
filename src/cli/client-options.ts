import type { IdentityOptions } from '../client/ci/identity.js';

/** The options of every command of a CI node. */
export interface ClientOptions extends IdentityOptions {
  url: string;
  token: string;
  retries: number;
  clientVersion: string;
  environment: NodeJS.ProcessEnv;
}

/** The options of the commands that take a list of test files. */
export interface ListOptions {
  stdin?: true;
  /** If the server cannot be reached, run all files instead of failing. */
  fallback?: boolean;
}
