import type { Answer, Request } from '../../http/request.js';
import { apiErrors } from '../errors.js';
import { type DashboardFiles, fileAnswer } from '../static-file.js';
import { sessionSecret } from './session.js';

/** The addresses for which the script has a page. */
const PAGE =
  /^\/(?:(?:projects|server|access|sign-in|docs(?:\/[^/]+)?|p\/[^/]+(?:\/(?:builds(?:\/[^/]+)?|trends|files(?:\/file)?|flaky|nodes|what-if|set-up|settings))?)\/?)?$/;
/** The name of an asset has the hash of its content, so it never changes. */
const FOREVER = 'public, max-age=31536000, immutable';

export function isPage(path: string): boolean {
  return PAGE.test(path);
}

export function isAsset(path: string): boolean {
  return path.startsWith('/assets/');
}

/** The browser loads the session beside the script that needs it. */
const PRELOAD = { Link: '</dashboard/session>; rel=preload; as=fetch; crossorigin' };

/** GET of any page: the one document, whose script shows the page of the address. Throws a 404 when the front end was not built. */
export function pageAnswer({ page }: DashboardFiles, request: Request): Answer {
  if (!page) throw apiErrors.notBuilt('dashboard');
  const answer = fileAnswer(page, request, 'no-cache');
  const needsSession = sessionSecret(request) !== null && request.path !== '/sign-in';
  return needsSession ? { ...answer, headers: { ...answer.headers, ...PRELOAD } } : answer;
}

/** Reports whether a browser asks for a page that does not exist. Below /v1 and /v2, programs ask. */
export function isMissingPage({ method, path, wantsHtml }: Request): boolean {
  return wantsHtml && (method === 'GET' || method === 'HEAD') && !/^\/v\d(\/|$)/.test(path) && !isAsset(path);
}

/** The same document with status 404: its script says that there is no such page. Throws a 404 when the front end was not built. */
export function missingPageAnswer({ page }: DashboardFiles, request: Request): Answer {
  if (!page) throw apiErrors.notBuilt('dashboard');
  return { ...fileAnswer(page, { ...request, ifNoneMatch: '' }, 'no-store'), status: 404 };
}

/** GET /assets/:name. Throws a 404. */
export function assetAnswer({ assets }: DashboardFiles, request: Request): Answer {
  const file = assets.get(request.path);
  if (!file) throw apiErrors.pathNotFound(request.method, request.path);
  return fileAnswer(file, request, FOREVER);
}
