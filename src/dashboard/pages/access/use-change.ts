import { useState } from 'preact/hooks';
import { Problem, post } from '../../data/api.js';
import { leaveToSignIn } from '../../data/session.js';

export interface Change {
  /** Why the last change did not happen; null: it did. */
  problem: Problem | null;
  isSending: boolean;
  /** Sends a change. Resolves to the answer, or null when it failed. */
  send: <T>(path: string, message: object, attempt: string) => Promise<T | null>;
}

/** Sends changes one at a time, and keeps why the last one failed. */
export function useChange(onDone: () => void = () => {}): Change {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isSending, setSending] = useState(false);
  const send = async <T>(path: string, message: object, attempt: string): Promise<T | null> => {
    if (isSending) return null;
    setSending(true);
    try {
      const answer = await post<T>(path, message, { attempt });
      setProblem(null);
      onDone();
      return answer;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.status === 401) leaveToSignIn();
      setProblem(error);
      return null;
    } finally {
      setSending(false);
    }
  };
  return { problem, isSending, send };
}
