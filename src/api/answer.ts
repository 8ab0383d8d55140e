import type { Answer, Request } from '../http/request.js';
import { authenticate } from '../workers/authenticate.js';
import type { Context } from './context.js';

export function json(status: number, value: object): Answer {
  return { status, body: JSON.stringify(value) };
}

/** The project of a request's token header. Throws the 403. */
export function projectOf({ store, tokenHeader }: Context, request: Request): number {
  return authenticate(store, request.token, tokenHeader);
}

/** The same for a POST, whose body may have the token instead: null then. */
export function projectOfHeader(context: Context, request: Request): number | null {
  return request.token === null ? null : projectOf(context, request);
}

/** Scheme and host for links in answers. */
export function baseUrl({ publicUrl }: Context, request: Request): string {
  return publicUrl ?? `${request.scheme}://${request.host}`;
}
