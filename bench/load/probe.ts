import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';
import { answerMessages } from './worker-messages.js';

/**
 * Measures the delay of the main thread's event loop, and reports it to the parent process. A server loads this module
 * with node --import. Packing threads load it too, and ignore it.
 */

/** How late the event loop ran timers that were due every millisecond. */
export interface LoopDelays {
  p99Milliseconds: number;
  maxMilliseconds: number;
}

/** The shortest timer interval in milliseconds. It is part of each measured interval. */
const RESOLUTION = 1;

if (isMainThread && process.channel) {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION });
  const milliseconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - RESOLUTION);
  answerMessages<{ verb: 'reset' | 'read' }, LoopDelays | null>(async ({ verb }) => {
    if (verb === 'reset') {
      delays.enable();
      delays.reset();
      return null;
    }
    return {
      p99Milliseconds: milliseconds(delays.percentile(99)),
      maxMilliseconds: milliseconds(delays.max),
    };
  });
  process.channel.unref();
}
