import type { Answer, Request } from '../http/request.js';
import { authenticate } from './authenticate.js';
import type { Context } from './context.js';

export function json(status: number, value: object): Answer {
  return { status, body: JSON.stringify(value) };
}

/** The project of the token in a request's header. Throws the 403. */
export function projectOf({ store, tokenHeader }: Context, { token }: Request): Promise<number> {
  return authenticate(store.access, token, tokenHeader);
}

/** Scheme and host for links in answers. */
export function baseUrl({ publicUrl }: Context, { scheme, host }: Request): string {
  return publicUrl ?? `${scheme}://${host}`;
}
