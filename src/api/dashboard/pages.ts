import { apiErrors } from '../../api-error.js';
import type { Answer, Request } from '../../http/request.js';
import type { DashboardFiles, StaticFile } from './files.js';

const PAGE = /^\/(?:$|(?:projects|p|server|access|docs|sign-in)(?:\/|$))/;
/** The name of an asset has the hash of its content, so it never changes. */
const FOREVER = 'public, max-age=31536000, immutable';

export function isPage(path: string): boolean {
  return PAGE.test(path);
}

export function isAsset(path: string): boolean {
  return path.startsWith('/assets/');
}

/** GET of any page: the one document, whose script shows the page of the address. Throws a 404 when the front end was not built. */
export function pageAnswer({ page }: DashboardFiles, request: Request): Answer {
  if (!page) throw apiErrors.dashboardNotBuilt();
  return fileAnswer(page, request, 'no-cache');
}

/** GET /assets/:name. Throws a 404. */
export function assetAnswer({ assets }: DashboardFiles, request: Request): Answer {
  const file = assets.get(request.path);
  if (!file) throw apiErrors.pathNotFound(request.method, request.path);
  return fileAnswer(file, request, FOREVER);
}

function fileAnswer(
  { body, brotli, contentType, hash }: StaticFile,
  { acceptEncoding, ifNoneMatch }: Request,
  cacheControl: string,
): Answer {
  const compressed = brotli && acceptsBrotli(acceptEncoding) ? brotli : null;
  const etag = compressed ? `"${hash}-br"` : `"${hash}"`;
  return {
    status: ifNoneMatch.includes(etag) ? 304 : 200,
    body: compressed ?? body,
    contentType,
    cacheControl,
    headers: { ...(compressed && { 'Content-Encoding': 'br' }), ETag: etag, Vary: 'Accept-Encoding' },
    // All requests share these bytes.
    memoryBytes: 0,
  };
}

function acceptsBrotli(acceptEncoding: string): boolean {
  return acceptEncoding.split(',').some(encoding => /^\s*br\s*(;\s*q=(1|0\.\d*[1-9])\d*)?\s*$/i.test(encoding));
}
