import type { ChildProcess } from 'node:child_process';
import { ask } from './worker-messages.js';

/** How late the event loop ran timers that were due every millisecond. */
export interface LoopDelays {
  p99Milliseconds: number;
  maxMilliseconds: number;
}

/** Measures the event loop of a process that has loaded probe.ts. */
export class LoopDelay {
  constructor(readonly child: ChildProcess) {}

  /** Starts a new measurement. */
  async reset(): Promise<void> {
    await ask<null>(this.child, { verb: 'reset' });
  }

  read(): Promise<LoopDelays> {
    return ask<LoopDelays>(this.child, { verb: 'read' });
  }
}
