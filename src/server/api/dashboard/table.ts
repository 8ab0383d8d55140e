import type { Handle } from '../endpoint.js';
import { accessRows } from './access.js';
import { assetAnswer, isAsset, isPage, pageAnswer } from './pages.js';
import { answerServer } from './server.js';
import { read } from './session.js';
import { signInRows } from './sign-in.js';

/** The pages, and their requests: see protocol/messages/dashboard.ts. Only a port that serves the dashboard has them. */
export const dashboardTable: Readonly<Record<string, { [method: string]: Handle }>> = {
  '/': { GET: ({ dashboard }, request) => pageAnswer(dashboard!.files, request) },
  '/assets': { GET: ({ dashboard }, request) => assetAnswer(dashboard!.files, request) },
  '/dashboard/server': { GET: read('operator', answerServer) },
  ...signInRows,
  ...accessRows,
};

/** The endpoint of a path; null: the dashboard has no such path. */
export function dashboardEndpointOf(path: string): string | null {
  if (isAsset(path)) return '/assets';
  if (Object.hasOwn(dashboardTable, path)) return path;
  return isPage(path) ? '/' : null;
}
