/**
 * Ends this process as kill -9 does. An orderly end would wait for threads that hang in the store, trip over memory that lmdb has
 * overwritten, and flush once more what the disk failed to take, as if nothing had been.
 */
export function hardExit(): void {
  process.kill(process.pid, 'SIGKILL');
  // The first process of a container is still here: to the system its own signals are nothing, an abort is not.
  process.abort();
}

/** The last words of a process whose store the disk failed. */
export function storeFailureMessage(dataDir: string, { message }: Error): string {
  // Behind it lmdb tells of its own work, not always of the same.
  const [what] = message.split(': ');
  return (
    `the disk failed the store in ${dataDir} (${what}), so this process ends at once: ` +
    'nothing acknowledged is lost; look at that disk, and start again'
  );
}
