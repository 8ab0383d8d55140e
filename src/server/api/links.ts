import type { BuildFilter } from '../engine/keys.js';
import type { Request } from '../http/request.js';
import type { Context } from './context.js';

/** Scheme and host for links in answers. */
export function baseUrl({ publicUrl }: Context, { scheme, host }: Request): string {
  return publicUrl ?? `${scheme}://${host}`;
}

/** The address of a list of builds. */
export function buildsUrl(context: Context, request: Request, { branch, commit_hash, node_total }: BuildFilter, page?: number): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ branch, commit_hash, node_total, page })) {
    if (value !== undefined) query.set(name, String(value));
  }
  return `${baseUrl(context, request)}/v1/builds?${query.toString()}`;
}

/** The address of the page of a build, on a port that serves the dashboard. */
export function buildPageUrl(context: Context, request: Request, project: string, build: string, query: Record<string, string>): string {
  const path = `/p/${encodeURIComponent(project)}/builds/${encodeURIComponent(build)}`;
  const choices = new URLSearchParams(query).toString();
  return `${baseUrl(context, request)}${path}${choices === '' ? '' : `?${choices}`}`;
}
