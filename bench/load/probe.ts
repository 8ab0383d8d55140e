import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';
import { answering } from './answering.js';
import type { Delays } from './loop-delay.js';

/**
 * Loaded into a server (node --import) by who forks it: measures how late the event loop of the main thread is.
 * Packing threads load it too, and are none of its business.
 */

/** The shortest that timers know. Each interval that is measured is as much longer than its delay. */
const RESOLUTION = 1;

if (isMainThread && process.channel) {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION });
  const milliseconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - RESOLUTION);
  answering<{ verb: 'reset' | 'read' }, Delays | null>(async ({ verb }) => {
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
