import { describe, expect, it, vi } from 'vitest';
import { COMMIT_ERROR_MILLISECONDS, Failure } from '../../../../src/server/store/lmdb/writes/failure.js';
import { nextTurns, temporaryStore } from './temporary-store.js';

type Root = ConstructorParameters<typeof Failure>[0];

/** A failure whose reports from lmdb the test makes. */
function watched(read = () => {}) {
  let ended: (event: object) => void = () => {};
  const root = { on: (_: string, listener: typeof ended) => (ended = listener), resetReadTxn: () => {}, doesExist: read };
  const told = vi.fn<(error: Error) => void>();
  const failure = new Failure(root as unknown as Root, told);
  return {
    failure,
    told,
    commit: async () => {
      ended({ next: null, txnId: 7 });
      await nextTurns();
    },
    /** A commit fails; lmdb rejects those who wait, and tells why when `why` is called. */
    refuse: () => {
      const write = { meta: { reject: (_: Error) => {} }, next: null };
      ended({ next: { meta: null, next: write }, txnId: undefined });
      let reject = (_: Error) => {};
      const commitError = new Promise<never>((_, no) => (reject = no));
      write.meta.reject(Object.assign(new Error('Commit failed (see commitError for details)'), { commitError }));
      return async (message: string, code: number) => {
        reject(Object.assign(new Error(message), { code }));
        await nextTurns();
      };
    },
  };
}

describe('a commit that fails', () => {
  it('because of the system is reported once, and all later commits are refused', async () => {
    const { failure, told, refuse, commit } = watched();
    await refuse()('Input/output error', 5);
    await commit();
    await refuse()('Input/output error', 5);
    expect(told.mock.calls).toEqual([[expect.objectContaining({ message: 'Input/output error' })]]);
    expect(() => failure.assert()).toThrow(expect.objectContaining({ reason: 'disk' }) as Error);
  });

  it('because of a value is ignored once the cause is known', async () => {
    const { failure, told, refuse } = watched();
    const why = refuse();
    expect(() => failure.assert()).toThrow();
    await why('MDB_BAD_VALSIZE: Unsupported size of key/DB name/data, or wrong DUPFIXED size', -30_781);
    failure.assert();
    expect(told).not.toHaveBeenCalled();
  });

  it('for an unknown reason is reported too', async () => {
    const { told, refuse } = watched();
    refuse();
    await vi.waitFor(() => expect(told).toHaveBeenCalledOnce(), { timeout: 4 * COMMIT_ERROR_MILLISECONDS, interval: 5 });
  });

  it('without an error is detected before its promise resolves', async () => {
    const error = Object.assign(new Error('MDB_PANIC: Update of meta page failed or environment had fatal error'), { code: -30_795 });
    const { failure, told, commit } = watched(() => {
      throw error;
    });
    const committed = commit();
    await Promise.resolve();
    expect(() => failure.assert()).toThrow();
    await committed;
    expect(told.mock.calls).toEqual([[expect.objectContaining({ cause: error })]]);
  });
});

describe('a store without failures', () => {
  it('reports none for commits, puts and rejected values', async () => {
    const store = temporaryStore();
    const told = vi.spyOn(store.failure, 'tell');
    await store.meta.put('readiness', 1);
    await store.root.transaction(() => void store.meta.put('readiness', 2));
    expect(() => store.meta.put('x'.repeat(4000), 1)).toThrow('Key size');
    await expect(
      store.root.transaction(() => {
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    store.failure.assert();
    expect(told).not.toHaveBeenCalled();
  });
});
