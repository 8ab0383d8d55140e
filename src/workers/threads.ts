import { Piscina } from 'piscina';
import { limits } from '../limits.js';
import type { Logger } from '../server/log.js';
import type { Lane, Task, TaskAnswer, WorkerSetup } from './task.js';

/** Performs tasks. */
export interface TaskRunner {
  run(task: Task, transferList: ArrayBuffer[], lane: Lane): Promise<TaskAnswer>;
  readonly threads: number;
  close(): Promise<void>;
}

/** After these, V8 has compiled the code: more make it no faster. */
const WARM_UP_ROUNDS = 12;

/**
 * Starts worker threads: some for nodes, and one for people, which is there only while it is used. What people read may take seconds, and a
 * thread does one task after another. With `isWarm` it waits for the first, so that a worker that cannot start is noticed now, not at the first
 * large suite. The thread warms up later, because the nodes that waited for the start of the server need the processor first.
 */
export async function startThreads(setup: WorkerSetup, most: number, isWarm: boolean, log: Logger): Promise<TaskRunner> {
  const open = (lane: Lane, minThreads: number, maxThreads: number) => {
    const filename = new URL('./worker.js', import.meta.url).href;
    const piscina = new Piscina({
      filename,
      workerData: { ...setup, lane },
      minThreads,
      maxThreads,
      idleTimeout: limits.idleThreadMilliseconds,
    });
    // A failure in a task rejects that task. This error means that a thread could not start, or died between tasks.
    piscina.on('error', err => log.error({ err }, 'a worker thread failed'));
    return piscina;
  };
  const lanes = { nodes: open('nodes', isWarm ? 1 : 0, most), people: open('people', 0, 1) };
  if (isWarm) await untilStarted(lanes.nodes);
  const tryWarmUp = () => warmUp(lanes.nodes).catch((err: unknown) => log.debug({ err }, 'could not warm up a worker thread'));
  const warmUpTimer = isWarm ? setTimeout(tryWarmUp, limits.warmUpDelayMilliseconds) : undefined;
  return {
    run: (task, transferList, lane) => lanes[lane].run(task, { transferList }) as Promise<TaskAnswer>,
    get threads() {
      return lanes.nodes.threads.length + lanes.people.threads.length;
    },
    close: async () => {
      clearTimeout(warmUpTimer);
      await Promise.all([lanes.nodes.close(), lanes.people.close()]);
    },
  };
}

/** Warms a thread up in short tasks, because a large suite that arrives meanwhile waits for one of them. */
async function warmUp(piscina: Piscina): Promise<void> {
  for (let round = 0; round < WARM_UP_ROUNDS; round++) {
    const answer = (await piscina.run({ kind: 'warm-up' } satisfies Task)) as TaskAnswer;
    if ('error' in answer) throw new Error(`the made-up suite was refused: ${JSON.stringify(answer.error.errors)}`);
  }
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
