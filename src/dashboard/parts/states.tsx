import type { ComponentChildren } from 'preact';
import { capitalized } from '../../base/capitalized.js';
import type { Problem } from '../data/api.js';
import type { Live } from '../data/live.js';

/** A thin line that moves while data is loaded. Its style hides it for the first 200 ms. */
export function ProgressLine({ isLoading }: { isLoading: boolean }) {
  return isLoading ? <div class="progress" role="progressbar" aria-label="Loading" /> : null;
}

/** Nothing to show: says what was looked for, and the way on. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <section class="empty">
      <h1>{title}</h1>
      {children}
    </section>
  );
}

/** A failed attempt, and the advice what to do. */
export function Failure({ problem, reload }: { problem: Problem; reload: () => void }) {
  const { attempt, status, reason, isPassing } = problem;
  return (
    <div class="failure" role="alert">
      <p>
        {/* A refusal of the server begins with what was refused. */}
        {reason.startsWith('cannot ') ? (
          capitalized(reason)
        ) : (
          <>
            <strong>Could not {attempt}: </strong>
            {status === 404 ? 'nothing is there. The address may be wrong, or the build has expired' : reason}
          </>
        )}
        .
      </p>
      {isPassing && (
        <p>
          Nothing is lost: what your builds recorded is on disk.{' '}
          <button type="button" onClick={reload}>
            Try again
          </button>
        </p>
      )}
    </div>
  );
}

interface LoadedProps<T> {
  live: Live<T>;
  /** Reason to wait, as for a very large suite. Its style hides it for the first second. */
  waiting?: string;
  children: (data: T) => ComponentChildren;
}

/** Shows data as soon as there is some, and above it why newer data could not be loaded. */
export function Loaded<T>({ live, waiting = 'Loading …', children }: LoadedProps<T>) {
  const { data, problem, isLoading, reload } = live;
  return (
    <>
      <ProgressLine isLoading={isLoading} />
      {problem && problem.status !== 401 && <Failure problem={problem} reload={reload} />}
      {data === null && isLoading && (
        <p class="loading quiet" role="status">
          {waiting}
        </p>
      )}
      {data !== null && children(data)}
    </>
  );
}
