/** What the commands of a CI node end with, beside the command's own of `queue`. */
export const exitCodes = {
  done: 0,
  /** A command failed, a report tells that its tests did, or nothing could be made of the reports. */
  failed: 1,
  usage: 2,
  /** The server refused, could not be reached, or was not a server of the protocol. */
  server: 3,
} as const;
