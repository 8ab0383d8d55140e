import { openSync, readSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';
import { answerMessages } from '../../test/testbed/worker-messages.js';

/**
 * Measures the delay of the main thread's event loop, and reports it to the parent process. A server loads this module
 * with node --import. Packing threads load it too, and ignore it.
 */

/** Delays with which the event loop ran timers that were due every millisecond. */
export interface LoopDelays {
  p99Milliseconds: number;
  maxMilliseconds: number;
  /** The longest without the time in which the thread waited for a processor: what the server did itself. */
  busyMilliseconds: number;
}

/** The shortest timer interval in milliseconds. It is part of each measured interval. */
const RESOLUTION = 1;

/** For how many milliseconds the main thread has waited for a processor since it started. Linux alone tells. */
function waitedReader(): () => number {
  try {
    const file = openSync('/proc/self/schedstat', 'r');
    const bytes = Buffer.alloc(100);
    // Nanoseconds on a processor, nanoseconds of waiting for one, and how often it got one.
    return () => Number(bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, 0)).split(' ')[1]) / 1e6;
  } catch {
    return () => 0;
  }
}

/** Measures the longest delay since the last reset, without the time in which the thread waited for a processor. */
class BusyTimer {
  #longest = 0;
  readonly #waited = waitedReader();
  #last = performance.now();
  #lastWaited = this.#waited();

  constructor() {
    setInterval(() => this.#tick(), RESOLUTION).unref();
  }

  #tick(): void {
    const [now, waited] = [performance.now(), this.#waited()];
    this.#longest = Math.max(this.#longest, now - this.#last - (waited - this.#lastWaited) - RESOLUTION);
    [this.#last, this.#lastWaited] = [now, waited];
  }

  reset(): void {
    this.#longest = 0;
  }

  get longest(): number {
    return this.#longest;
  }
}

if (isMainThread && process.channel) {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION });
  const busy = new BusyTimer();
  const milliseconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - RESOLUTION);
  answerMessages<{ verb: 'reset' | 'read' }, LoopDelays | null>(async ({ verb }) => {
    if (verb === 'reset') {
      delays.enable();
      delays.reset();
      busy.reset();
      return null;
    }
    return {
      p99Milliseconds: milliseconds(delays.percentile(99)),
      maxMilliseconds: milliseconds(delays.max),
      busyMilliseconds: busy.longest,
    };
  });
  process.channel.unref();
}
