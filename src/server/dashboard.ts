import type { Logger } from 'pino';
import type { Dashboard, ServerStatus } from '../api/context.js';
import type { DashboardFiles } from '../api/dashboard/files.js';
import type { ScryptCost } from '../engine/ports/sign-ins.js';
import type { Millis, Store } from '../engine/ports/store.js';
import { PasswordAttempts } from '../engine/sign-in/password-attempts.js';
import { createOperatorLink } from '../engine/sign-in/sign-in.js';
import type { Config } from './config.js';
import { reachableUrl, signInUrl } from './dashboard-address.js';

/** The addresses of the open ports. */
interface Ports {
  url: string;
  adminUrl: string | null;
}

/** What the dashboard needs of the server. `status` and `ports` are called when the ports are open. Null: it is turned off. */
export function openDashboard(
  { dashboard }: Config,
  files: () => DashboardFiles,
  passwordCost: ScryptCost,
  status: () => ServerStatus & Ports,
): Dashboard | null {
  if (dashboard === 'off') return null;
  const apiUrl = () => (dashboard === 'admin' ? reachableUrl(status().url) : null);
  return { files: files(), passwords: new PasswordAttempts(passwordCost), apiUrl, status };
}

/** Notes where the dashboard is, for the links that commands make. Returns that address. */
export async function noteAddress(
  { dashboard, publicUrl }: Config,
  { url, adminUrl }: Ports,
  { signIns }: Store,
  log: Logger,
): Promise<string> {
  const address = dashboard === 'admin' ? reachableUrl(adminUrl!) : (publicUrl ?? reachableUrl(url));
  // A store that refuses writes is reported elsewhere.
  if ((await signIns.address()) !== address)
    await signIns.keepAddress(address).catch((err: unknown) => log.error({ err }, 'could not note the address of the dashboard'));
  return address;
}

/** The address that signs an operator in, once. */
export async function newSignInUrl({ signIns }: Store, address: string, now: Millis): Promise<string> {
  return signInUrl(address, (await createOperatorLink(signIns, now)).secret);
}
