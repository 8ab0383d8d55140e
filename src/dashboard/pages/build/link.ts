import { withQuery } from '../../routes/routes.js';

/** The address of this page with a part of its query changed. An empty text or null removes a name. */
export function linkTo(path: string, query: URLSearchParams, changes: Record<string, string | number | null>): string {
  return withQuery(path, { ...Object.fromEntries(query), ...changes });
}
