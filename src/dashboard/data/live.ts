import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useKept } from '../routes/visits.js';
import { get, Problem, type Request } from './api.js';
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
  problem: Problem | null;
}

/**
 * Loads a path, and again when it changes. `refresh` says in how many seconds the data is loaded again; null: it is final. A hidden page
 * waits until it is seen. After back, the data of before is there until the new data is. After a failure that may pass, it tries again by
 * itself.
 */
export function useLive<T>(path: string | null, request: Request, refresh: (data: T) => number | null = () => null): Live<T> {
  const [state, setState] = useKept<State<T>>(`${request.attempt} ${request.project} ${path}`, { path: null, data: null, problem: null });
  const [turn, setTurn] = useState(0);
  const latest = useRef({ request, refresh });
  latest.current = { request, refresh };

  // The request starts before the page is painted. A change of `turn` is the wish to load again.
  useLayoutEffect(() => {
    if (path === null) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let failures = 0;
    const load = async () => {
      const seconds = await get<T>(path, { ...latest.current.request, signal: abort.signal }).then(
        data => {
          failures = 0;
          setState({ path, data, problem: null });
          return latest.current.refresh(data);
        },
        (error: unknown) => {
          if (abort.signal.aborted) return null;
          if (!(error instanceof Problem)) throw error;
          if (error.status === 401) leaveToSignIn();
          setState(({ data }) => ({ path, data, problem: error }));
          return isPassing(error) ? Math.min(60, 2 ** ++failures) : null;
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

  return {
    data: state.data,
    problem: state.path === path ? state.problem : null,
    isLoading: path !== null && state.path !== path,
    reload: () => setTurn(turn => turn + 1),
  };
}

/** Reports whether the request may work later without a change. */
function isPassing({ status }: Problem): boolean {
  return status === 0 || status === 429 || status >= 500;
}
