import type { ChildProcess } from 'node:child_process';
import { ask } from './worker.js';

/** How much later than asked for a timer's turn came, of those every millisecond. */
export interface Delays {
  p99Milliseconds: number;
  maxMilliseconds: number;
}

/** The event loop of a process that has probe.ts. */
export class LoopDelay {
  constructor(readonly child: ChildProcess) {}

  /** Measures from here on. */
  async reset(): Promise<void> {
    await ask<null>(this.child, { verb: 'reset' });
  }

  read(): Promise<Delays> {
    return ask<Delays>(this.child, { verb: 'read' });
  }
}
