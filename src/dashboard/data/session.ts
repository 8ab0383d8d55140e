import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { SessionAnswer } from '../../protocol/messages/dashboard.js';
import { navigate } from '../routes/router.js';
import { withQuery } from '../routes/routes.js';

/** The person who is signed in. Every page but the sign-in page has it. */
export interface Session extends SessionAnswer {
  /** Loads it again: after a change of the projects. */
  reload: () => void;
}

export const SessionContext = createContext<Session | null>(null);

/** The session of a page that needs one. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('this page is shown without a session');
  return session;
}

/** Goes to the sign-in page, which returns to this address afterwards. */
export function leaveToSignIn(): void {
  if (location.pathname === '/sign-in') return;
  const here = location.pathname + location.search + location.hash;
  navigate(withQuery('/sign-in', { to: here === '/' ? null : here }), { replace: true });
}
