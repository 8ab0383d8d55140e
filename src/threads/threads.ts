import type { Logger } from 'pino';
import { Piscina } from 'piscina';
import { limits } from '../limits.js';

/** What a thread is told to do. The buffers of its input may be moved to the thread. */
export interface Task {
  job: string;
  input: unknown;
}

/** Whose tasks a thread performs: those of CI nodes and jobs, or those of people who read about builds. */
export type Group = 'nodes' | 'people';

/** Performs tasks in worker threads. */
export interface Threads {
  run(task: Task, group: Group, move?: ArrayBuffer[]): Promise<unknown>;
  readonly count: number;
  /** Rejects when no thread can start; then none is left. Without a task to warm up, it is resolved. */
  readonly started: Promise<void>;
  close(): Promise<void>;
}

export interface ThreadsOptions {
  /** The address of the module that each thread runs. Its default export is made by `performing`. */
  filename: string;
  /** What the module needs: it is copied to each thread. */
  setup: object;
  /** The most threads for nodes. There is one for people, only while it is used. */
  most: number;
  /** After this task was done several times, the code is compiled. Null: threads start with the first task. */
  warmUp: Task | null;
}

/** After these, V8 has compiled the code: more make it no faster. */
const WARM_UP_ROUNDS = 12;

/**
 * Starts worker threads: some for nodes, and one for people. What people read may take seconds, and a thread does one task after another.
 * With a task to warm up the first thread starts at once, so that one that cannot start is noticed now, not at the first large suite. It
 * warms up later, because the nodes that waited for the start of the server need the processor first.
 */
export function startThreads({ filename, setup, most, warmUp }: ThreadsOptions, log: Logger): Threads {
  const open = (group: Group, minThreads: number, maxThreads: number) => {
    const workerData = { ...setup, group };
    const piscina = new Piscina({ filename, workerData, minThreads, maxThreads, idleTimeout: limits.idleThreadMilliseconds });
    // A failure in a task rejects that task. This error means that a thread could not start, or died between tasks.
    piscina.on('error', err => log.error({ err }, 'a worker thread failed'));
    return piscina;
  };
  const groups = { nodes: open('nodes', warmUp ? 1 : 0, most), people: open('people', 0, 1) };
  const started = warmUp ? untilStarted(groups.nodes) : Promise.resolve();
  const tryWarmUp = async (task: Task) => {
    // One by one, because a large suite that arrives meanwhile waits for one of them.
    for (let round = 0; round < WARM_UP_ROUNDS; round++) await groups.nodes.run(task);
  };
  const timer =
    warmUp &&
    setTimeout(
      () => tryWarmUp(warmUp).catch((err: unknown) => log.debug({ err }, 'could not warm up a worker thread')),
      limits.warmUpDelayMilliseconds,
    );
  return {
    started,
    run: (task, group, transferList = []) => groups[group].run(task, { transferList }),
    get count() {
      return groups.nodes.threads.length + groups.people.threads.length;
    },
    close: async () => {
      if (timer) clearTimeout(timer);
      await Promise.all([groups.nodes.close(), groups.people.close()]);
    },
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
