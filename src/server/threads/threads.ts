import type { Logger } from 'pino';
import { Piscina } from 'piscina';

/** A worker thread that has had nothing to do for this long ends. */
const IDLE_THREAD_MILLISECONDS = 60_000;

/** Work for a thread. The buffers of its input may be moved to the thread. */
export interface Task {
  job: string;
  input: unknown;
}

/** Users of a thread's tasks: CI nodes and jobs, or people who read about builds. */
export type Group = 'nodes' | 'people';

/** Performs tasks in worker threads. */
export interface Threads {
  run(task: Task, group: Group, move?: ArrayBuffer[]): Promise<unknown>;
  readonly count: number;
  /** Rejects when the first thread cannot start; then none is left. Resolved when none starts at once. */
  readonly started: Promise<void>;
  close(): Promise<void>;
}

export interface ThreadsOptions {
  /** The address of the module that each thread runs. Its default export is made by `performing`. */
  filename: string;
  /** Input of the module: it is copied to each thread. */
  setup: object;
  /** The most threads for nodes. There is one for people, only while it is used. */
  most: number;
  /** The first thread for nodes starts at once, so that one that cannot start is noticed now, not at the first large suite. */
  isEager: boolean;
}

/**
 * Starts worker threads: some for nodes, and one for people. What people read may take seconds, and a thread does one task after another.
 */
export function startThreads({ filename, setup, most, isEager }: ThreadsOptions, log: Logger): Threads {
  const open = (group: Group, minThreads: number, maxThreads: number) => {
    const workerData = { ...setup, group };
    const piscina = new Piscina({ filename, workerData, minThreads, maxThreads, idleTimeout: IDLE_THREAD_MILLISECONDS });
    // A failure in a task rejects that task. This error means that a thread could not start, or died between tasks.
    piscina.on('error', err => log.error({ err }, 'a worker thread failed'));
    return piscina;
  };
  const groups = { nodes: open('nodes', isEager ? 1 : 0, most), people: open('people', 0, 1) };
  return {
    started: isEager ? untilStarted(groups.nodes) : Promise.resolve(),
    run: (task, group, transferList = []) => groups[group].run(task, { transferList }),
    get count() {
      return groups.nodes.threads.length + groups.people.threads.length;
    },
    close: async () => void (await Promise.all([groups.nodes.close(), groups.people.close()])),
  };
}

/** Waits until a thread runs. When it cannot start, no thread is left. */
async function untilStarted(piscina: Piscina): Promise<void> {
  let fail: (error: Error) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
    piscina.once('error', fail);
  });
  try {
    await Promise.race([piscina.run(null), failed]);
  } catch (error) {
    // The pool has begun to replace the thread.
    await piscina.destroy();
    throw error;
  }
  piscina.off('error', fail);
}
