import { options, type VNode } from 'preact';
import { navigate } from '../routes/router.js';

// Leads the links of the pages, which are paths on a server, to where the same is in the site.
const before = options.vnode;
options.vnode = vnode => {
  const { type, props } = vnode as VNode<{ href?: string }>;
  if (type === 'a' && props.href?.startsWith('/')) props.href = placeOf(props.href);
  before?.(vnode);
};
// Before that of the router, which reads paths.
document.addEventListener('click', event => {
  const href = (event.target as Element).closest?.('a[href]')?.getAttribute('href');
  if (href === null || href === undefined) return;
  event.stopImmediatePropagation();
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (!href.startsWith('#')) return;
  event.preventDefault();
  if (href.startsWith('#/')) navigate(href.slice(1));
  else document.getElementById(href.slice(1))?.focus();
});

/** The guides are pages of their own, and an address of the dashboard stands behind the #. */
function placeOf(path: string): string {
  const [, name, section = ''] = /^\/docs(?:\/([^#]+))?(#.*)?$/.exec(path) ?? [];
  if (name !== undefined) return `../docs/${name}.html${section}`;
  return path === '/docs' ? '../index.html' : `#${path}`;
}
