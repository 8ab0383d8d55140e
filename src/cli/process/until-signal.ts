import { END_SIGNALS, signalExitCode } from '../../base/signals.js';

/**
 * Runs work that a signal ends in an orderly way: `stop` aborts, the work cleans up and rejects, and the exit code is that of the signal
 * (130, 143, 129). A second signal ends the process at once.
 */
export async function untilSignal<T>(work: (stop: AbortSignal) => Promise<T>): Promise<T> {
  const stopping = new AbortController();
  const ignore = () => {
    for (const signal of END_SIGNALS) process.off(signal, stop);
  };
  const stop = (signal: NodeJS.Signals) => {
    ignore();
    stopping.abort(Object.assign(new Error(`ended by ${signal}`), { exitCode: signalExitCode(signal) }));
  };
  for (const signal of END_SIGNALS) process.on(signal, stop);
  try {
    return await work(stopping.signal);
  } catch (error) {
    stopping.signal.throwIfAborted();
    throw error;
  } finally {
    ignore();
  }
}
