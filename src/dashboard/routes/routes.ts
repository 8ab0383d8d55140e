/** The pages of a project, and those beside. */
export const PROJECT_PAGES = ['builds', 'build', 'trends', 'files', 'file', 'flaky', 'nodes', 'what-if', 'set-up', 'settings'] as const;
export const OTHER_PAGES = ['projects', 'server', 'access', 'docs', 'sign-in'] as const;

export type ProjectPage = (typeof PROJECT_PAGES)[number];
export type OtherPage = (typeof OTHER_PAGES)[number];

/** The page of an address. `id`: the build's id on the page `build`, the guide's name on the page `docs`, else empty. */
export type Route =
  | { page: ProjectPage; project: string; id: string }
  | { page: OtherPage; project: null; id: string }
  | { page: 'not-found'; project: null; id: '' };

const NOT_FOUND: Route = { page: 'not-found', project: null, id: '' };

/** Returns what a path shows. */
export function routeOf(path: string): Route {
  const parts = path.split('/').filter(Boolean).map(decode);
  return (parts[0] === 'p' ? projectRoute(parts.slice(1)) : otherRoute(parts)) ?? NOT_FOUND;
}

function projectRoute([project, name = 'builds', id, ...rest]: string[]): Route | null {
  if (project === undefined || rest.length > 0) return null;
  if (name === 'builds' && id !== undefined) return { page: 'build', project, id };
  if (name === 'files' && id === 'file') return { page: 'file', project, id: '' };
  const page = PROJECT_PAGES.find(page => page === name && page !== 'build' && page !== 'file');
  return page && id === undefined ? { page, project, id: '' } : null;
}

function otherRoute([name = 'projects', id, ...rest]: string[]): Route | null {
  const page = OTHER_PAGES.find(page => page === name);
  if (!page || rest.length > 0 || (id !== undefined && page !== 'docs')) return null;
  return { page, project: null, id: id ?? '' };
}

/** Returns the path of a project's page, such as `/p/web/builds`. */
export function projectPath(project: string, page: ProjectPage, id = ''): string {
  const start = `/p/${encodeURIComponent(project)}`;
  if (page === 'build') return `${start}/builds/${encodeURIComponent(id)}`;
  return page === 'file' ? `${start}/files/file` : `${start}/${page}`;
}

/** Returns a path with a query of what is not empty. */
export function withQuery(path: string, query: Record<string, string | number | null | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== '') search.set(name, String(value));
  }
  return search.size === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}${search}`;
}

/** Decodes a part of an address; what is malformed stays as it is. */
export function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
