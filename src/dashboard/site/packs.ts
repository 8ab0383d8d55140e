/** The branch of the demo that a request for files means when it names none. */
const DEFAULT_BRANCH = 'main';
const ORIGIN = 'http://ballast';

/** Names a request to the server, however the names in its query are ordered. `project` is empty where it is about none. */
export function keyOf(project: string, path: string): string {
  const { pathname, searchParams } = new URL(path, ORIGIN);
  searchParams.sort();
  if (pathname.startsWith('/v1/trends/files') && searchParams.get('branch') === DEFAULT_BRANCH) searchParams.delete('branch');
  return `${project} ${pathname}${searchParams.size === 0 ? '' : `?${searchParams}`}`;
}

/** Names the pack in which an answer is: about what one page shows, so that a page loads little, and answers that are alike are packed together. */
export function packOf(key: string): string {
  const [project, path] = key.split(' ') as [string, string];
  const { pathname, searchParams } = new URL(path, ORIGIN);
  const [, root, kind, id] = pathname.split('/');
  const file = searchParams.get('path')?.split('/').slice(0, -1).join('/');
  const names = kind === 'builds' && id !== 'completeness' ? [kind, id] : [...pathname.split('/').slice(2), file];
  return [root === 'dashboard' ? root : project, ...names, searchParams.get('sort'), searchParams.get('branch')]
    .flatMap(name => name || [])
    .join('-')
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-');
}
