import type { IdentityOptions } from '../client/ci/identity.js';

/** What every command of a CI node takes. */
export interface ClientOptions extends IdentityOptions {
  url: string;
  token: string;
  retries: number;
  clientVersion: string;
  environment: NodeJS.ProcessEnv;
}

/** What those that list test files take. */
export interface ListOptions {
  stdin?: true;
  /** Run all files when the server cannot be reached; without it the command fails. */
  fallback?: boolean;
}
