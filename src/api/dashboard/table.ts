import { ApiError } from '../../api-error.js';
import type { Answer, Request } from '../../http/request.js';
import type { Context, Dashboard } from '../context.js';
import { assetAnswer, isAsset, isPage, pageAnswer } from './pages.js';
import { SECURITY_HEADERS } from './security-headers.js';

type Handle = (dashboard: Dashboard, request: Request) => Answer;

/** Answers a request of the dashboard; null: its path or method is none of the dashboard's, or this port does not serve the dashboard. */
export function routeDashboard({ dashboard }: Context, request: Request): Answer | null {
  const handle = dashboard && handlerOf(request);
  if (!handle) return null;
  try {
    return secured(handle(dashboard, request));
  } catch (error) {
    throw securedError(error);
  }
}

/** The endpoint of a path in metrics; null: it is none of the dashboard's. */
export function dashboardEndpointOf(path: string): string | null {
  if (isAsset(path)) return '/assets';
  return isPage(path) ? '/' : null;
}

function handlerOf({ method, path }: Request): Handle | null {
  if (method !== 'GET' && method !== 'HEAD') return null;
  if (isPage(path)) return ({ files }, request) => pageAnswer(files, request);
  if (isAsset(path)) return ({ files }, request) => assetAnswer(files, request);
  return null;
}

function secured(answer: Answer): Answer {
  return { ...answer, headers: { ...SECURITY_HEADERS, ...answer.headers } };
}

function securedError(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const { status, errors, headers, cause, reason } = error;
  return new ApiError(status, errors, { ...SECURITY_HEADERS, ...headers }, cause, reason);
}
