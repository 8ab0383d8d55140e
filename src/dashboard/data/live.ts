import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useKept } from '../routes/visits.js';
import { getUnless, Problem, type Request } from './api.js';
import { waitAfter } from './pace.js';
import { leaveToSignIn } from './session.js';

/** The server's last answer. The last data stays while new data is loaded, and when that fails. */
export interface Live<T> {
  data: T | null;
  /** Why the last request failed; null: it did not. */
  problem: Problem | null;
  /** True while the page shows other data than the address asks for. */
  isLoading: boolean;
  reload: () => void;
}

interface State<T> {
  /** Path that was loaded last. */
  path: string | null;
  data: T | null;
  /** See Answered. */
  tag: string | null;
  age: number;
  problem: Problem | null;
}

const NOTHING = { path: null, data: null, tag: null, age: 0, problem: null };

/** The refresh of an answer that is final once its build has ended. */
export const whileRunning =
  (seconds: number) =>
  ({ is_running }: { is_running: boolean }): number | null =>
    is_running ? seconds : null;

/**
 * Loads a path, and again when it changes. `refresh` says in how many seconds, at the least, the server is asked whether the data has changed;
 * null: it is final. A hidden page waits until it is seen. After back, the data of before is there until the new data is. After a failure that
 * may pass, it tries again by itself. `aged` makes of unchanged data what it says now.
 */
export function useLive<T>(
  path: string | null,
  request: Request,
  refresh: (data: T) => number | null = () => null,
  aged: (data: T, age: number) => T = data => data,
): Live<T> {
  const [state, setState] = useKept<State<T>>(`${request.attempt} ${request.project} ${path}`, NOTHING);
  const [turn, setTurn] = useState(0);
  const latest = useRef({ request, refresh, state });
  latest.current = { request, refresh, state };

  // The request starts before the page is painted. A change of `turn` is the wish to load again.
  useLayoutEffect(() => {
    if (path === null) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let failures = 0;
    let cost = { bytes: 0, seconds: 0 };
    let unchanged = 0;
    const load = async () => {
      const { request, state } = latest.current;
      const known = state.path === path ? state.tag : null;
      const begun = performance.now();
      const seconds = await getUnless<T>(known, path, { ...request, signal: abort.signal }).then(
        ({ data: sent, tag, age, bytes }) => {
          failures = 0;
          unchanged = sent === null ? unchanged + 1 : 0;
          if (sent !== null) cost = { bytes, seconds: (performance.now() - begun) / 1000 };
          const data = sent ?? state.data!;
          setState({ path, data, tag, age, problem: null });
          const least = latest.current.refresh(data);
          return least && waitAfter(least, cost, unchanged);
        },
        (error: unknown) => {
          if (abort.signal.aborted) return null;
          if (!(error instanceof Problem)) throw error;
          if (error.status === 401) leaveToSignIn();
          setState(({ data, age }) => ({ path, data, tag: null, age, problem: error }));
          return error.isPassing ? Math.min(60, 2 ** ++failures) : null;
        },
      );
      if (seconds !== null && !abort.signal.aborted) timer = setTimeout(whenSeen, seconds * 1000);
    };
    const whenSeen = () => {
      if (document.visibilityState === 'visible') void load();
      else document.addEventListener('visibilitychange', whenSeen, { once: true, signal: abort.signal });
    };
    void load();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [path, request.project, turn]);

  const { data, age } = state;
  return {
    data: useMemo(() => data && aged(data, age), [data, age]),
    problem: state.path === path ? state.problem : null,
    isLoading: path !== null && state.path !== path,
    reload: () => setTurn(turn => turn + 1),
  };
}
