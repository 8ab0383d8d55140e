import { useEffect, useRef, useState } from 'preact/hooks';
import { get, Problem, post } from '../../data/api.js';
import { ProgressLine } from '../../parts/states.js';
import { navigate } from '../../routes/router.js';
import { forgetVisits } from '../../routes/visits.js';
import { endingOf, landingOf, refusalOf } from './outcome.js';

/** Returns the secret of a sign-in link, and takes it out of the address and the history. Null: the address has none. */
function takeSecret(): string | null {
  const secret = location.hash.slice(1);
  if (secret === '') return null;
  history.replaceState(history.state, '', location.pathname + location.search);
  return secret;
}

/** Key of the note of the page that asked to sign in. A link that is pasted into this tab does not name it. */
const RETURN_TO = 'return-to';

function land(): void {
  const to = sessionStorage.getItem(RETURN_TO);
  sessionStorage.removeItem(RETURN_TO);
  navigate(landingOf(to, location.origin), { replace: true });
}

/** Why the session of this browser has ended; null: there was none. Goes on as soon as another tab of the browser has signed in. */
function useEnding(): string | null {
  const [ending, setEnding] = useState<string | null>(null);
  const isSignedOut = useRef(false);
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    const look = () =>
      get('/dashboard/session', { attempt: 'look for a session', signal }).then(
        () => isSignedOut.current && land(),
        (error: unknown) => {
          if (!(error instanceof Problem) || error.status !== 401) return;
          isSignedOut.current = true;
          setEnding(endingOf(error.reasons));
        },
      );
    // A link that signs in tells soon enough.
    if (location.hash === '') void look();
    addEventListener('focus', look, { signal });
    return () => abort.abort();
  }, []);
  return ending;
}

export function SignInPage() {
  const [refusal, setRefusal] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);
  const [password, setPassword] = useState('');
  const ending = useEnding();

  const signIn = async (message: { link: string } | { password: string }) => {
    setSending(true);
    setRefusal(null);
    try {
      await post('/dashboard/sign_in', message, { attempt: 'sign in' });
      land();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setRefusal(refusalOf(error, 'link' in message));
      setSending(false);
    }
  };
  useEffect(() => {
    forgetVisits();
    const to = new URLSearchParams(location.search).get('to');
    if (to !== null) sessionStorage.setItem(RETURN_TO, to);
  }, []);
  useEffect(() => {
    const useLink = () => {
      const link = takeSecret();
      if (link !== null) void signIn({ link });
    };
    useLink();
    addEventListener('hashchange', useLink);
    return () => removeEventListener('hashchange', useLink);
  }, []);

  return (
    <main id="content" class="sign-in">
      <ProgressLine isLoading={isSending} />
      <h1 class="headline">Sign in</h1>
      <div role="status">
        {ending !== null && (
          <>
            <p>
              <strong>{ending}</strong>
            </p>
            <p>
              If you came by a link for readers, open it again. If it does not work any more, it was revoked or has expired: ask for
              another.
            </p>
          </>
        )}
      </div>
      {refusal !== null && (
        <div class="failure" role="alert">
          <p>{refusal}</p>
        </div>
      )}
      <p>Open a sign-in link. On the machine of the server, this command prints one, which works once within 10 minutes:</p>
      <pre>
        <code>npm run -s ballast -- dashboard link</code>
      </pre>
      <form
        onSubmit={event => {
          event.preventDefault();
          if (password !== '') void signIn({ password });
        }}
      >
        <label for="password">Or the password, if the operator set one</label>
        <div class="line">
          <input
            id="password"
            type="password"
            autocomplete="current-password"
            value={password}
            onInput={event => setPassword(event.currentTarget.value)}
          />
          <button type="submit" disabled={isSending}>
            Sign in
          </button>
        </div>
      </form>
    </main>
  );
}
