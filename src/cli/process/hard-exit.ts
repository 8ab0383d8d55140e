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
