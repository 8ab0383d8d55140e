import { Fault, faults } from '../fault.js';
import type { Answer } from '../http/request.js';
import { limits } from '../limits.js';
import { commit } from '../store/commit.js';
import { json } from './answer.js';
import type { Context } from './context.js';

/** GET /healthz: the process is up. */
export function healthy(): Answer {
  return json(200, { status: 'ok' });
}

/** GET /readyz: the store is open and a write reaches the disk soon. */
export async function ready({ store, now }: Context): Promise<Answer> {
  try {
    await within(limits.readySeconds, commit(store, () => void store.meta.put('readiness', now())));
  } catch (err) {
    throw faults.notReady((err instanceof Fault && err.cause) || err);
  }
  return json(200, { status: 'ready' });
}

function within<T>(seconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`a write took longer than ${seconds} s`)), 1000 * seconds);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
