import { useEffect, useState } from 'preact/hooks';
import { Problem, post } from '../data/api.js';
import { ProgressLine } from '../parts/states.js';
import { navigate } from '../routes/router.js';
import { forgetVisits } from '../routes/visits.js';
import { landingOf, refusalOf } from '../sign-in/sign-in.js';

/** Returns the secret of a sign-in link, and takes it out of the address and the history. Null: the address has none. */
function takeSecret(): string | null {
  const secret = location.hash.slice(1);
  if (secret === '') return null;
  history.replaceState(history.state, '', location.pathname + location.search);
  return secret;
}

export function SignInPage() {
  const [refusal, setRefusal] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);
  const [password, setPassword] = useState('');

  const signIn = async (message: { link: string } | { password: string }) => {
    setSending(true);
    setRefusal(null);
    try {
      await post('/dashboard/sign_in', message, { attempt: 'sign in' });
      navigate(landingOf(new URLSearchParams(location.search).get('to'), location.origin), { replace: true });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setRefusal(refusalOf(error, 'link' in message));
      setSending(false);
    }
  };
  useEffect(forgetVisits, []);
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
