/** Exit codes of the commands of a CI node. `queue` may also end with the code of its command. */
export const exitCodes = {
  done: 0,
  /** A command failed, a report has failures, or no report can be used. */
  failed: 1,
  usage: 2,
  /** The server refused, could not be reached, or is not a Ballast server. */
  server: 3,
} as const;
