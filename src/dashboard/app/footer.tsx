import { useState } from 'preact/hooks';
import { Problem, post } from '../data/api.js';
import { useSession } from '../data/session.js';
import { navigate } from '../routes/router.js';

/** The name of the person who is signed in, and the way out. */
export function Footer() {
  const { role, version } = useSession();
  const [problem, setProblem] = useState<Problem | null>(null);
  const signOut = () =>
    post('/dashboard/sign_out', {}, { attempt: 'sign out' }).then(
      () => navigate('/sign-in'),
      (error: unknown) => {
        if (!(error instanceof Problem)) throw error;
        // Signed out already.
        if (error.status === 401) navigate('/sign-in');
        else setProblem(error);
      },
    );
  return (
    <footer class="footer small quiet">
      Ballast {version}, signed in as {role === 'operator' ? 'an operator' : 'a reader'}.{' '}
      <button type="button" class="plain" onClick={() => void signOut()}>
        Sign out
      </button>
      {problem && <span role="alert"> Could not sign out: {problem.reason}.</span>}
    </footer>
  );
}
