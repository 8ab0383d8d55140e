/** What the commands of a CI node end with, beside the command's own of `queue`. */
export const exitCodes = {
  done: 0,
  /** A command failed, a report has failures, or the reports are of no use. */
  failed: 1,
  usage: 2,
  /** The server refused, could not be reached, or is not a Ballast server. */
  server: 3,
} as const;
