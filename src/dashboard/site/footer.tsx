import { useSession } from '../data/session.js';

/** Stands in for the footer of the dashboard: nobody is signed in. */
export function Footer() {
  const { version } = useSession();
  return <footer class="footer small quiet">Ballast {version}, its recorded demo.</footer>;
}
