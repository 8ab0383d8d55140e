/** Exit codes of the commands of a CI node. `queue` may also end with the code of its command. */
export const exitCodes = {
  done: 0,
  /** A command failed, a report has failures, or no report can be used. */
  failed: 1,
  usage: 2,
  /** The server refused, could not be reached, or is not a Ballast server. */
  server: 3,
} as const;

/**
 * Ends this process like kill -9. An orderly exit would wait for threads that hang in the store, could crash on memory that lmdb has
 * overwritten, and would repeat the failed flush as if it had never failed.
 */
export function hardExit(): void {
  process.kill(process.pid, 'SIGKILL');
  // The first process of a container is not killed by its own SIGKILL, but abort ends it.
  process.abort();
}

/** The error of a process that exits because the disk failed. */
export function storeFailureMessage(dataDir: string, { message }: Error): string {
  // The rest of the message is about internals of lmdb, and varies.
  const [reason] = message.split(': ');
  return (
    `the disk failed the store in ${dataDir} (${reason}), so this process ends at once: ` +
    'nothing acknowledged is lost; check the disk, and start again'
  );
}
