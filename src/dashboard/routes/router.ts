import { useEffect, useState } from 'preact/hooks';
import { routeOf } from './routes.js';
import { titleOf } from './title.js';
import { leaveVisit, newVisit, returnToVisit, startVisits } from './visits.js';

/** The address of the page: a path and its query, which hold everything that is seen. */
export interface Address {
  path: string;
  query: URLSearchParams;
  /** Number of times that back or forward led to another address. Each time the page is made anew, from the state that it had. */
  returns: number;
}

const listeners = new Set<() => void>();
let shown = '';
const announce = () => {
  shown = here();
  for (const listener of listeners) listener();
};

/** Goes to a path with its query. `replace`: back does not return to what is shown now. */
export function navigate(to: string, { replace = false } = {}): void {
  const before = location.pathname;
  if (replace) history.replaceState(history.state, '', to);
  else {
    leaveVisit();
    history.pushState(newVisit(), '', to);
  }
  announce();
  if (location.pathname !== before) scrollTo(0, 0);
}

/** Changes a part of the query and keeps the rest. Null or empty removes a name. */
export function setQuery(changes: Record<string, string | null>, { replace = true } = {}): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') query.delete(name);
    else query.set(name, value);
  }
  const search = query.size === 0 ? '' : `?${query}`;
  if (search !== location.search) navigate(location.pathname + search + location.hash, { replace });
}

let returns = 0;
const current = (): Address => ({ path: location.pathname, query: new URLSearchParams(location.search), returns });

/** The address now; the component renders again when it changes. */
export function useAddress(): Address {
  const [address, setAddress] = useState(current);
  useEffect(() => {
    const update = () => setAddress(current());
    listeners.add(update);
    update();
    return () => void listeners.delete(update);
  }, []);
  return address;
}

/** Names the page by its subject as soon as it is known; null: it is not. */
export function useTitle(subject: string | null): void {
  useEffect(() => {
    if (subject !== null) document.title = titleOf(routeOf(location.pathname), new URLSearchParams(location.search), subject);
  }, [subject, location.search]);
}

/** Makes back and forward, and links to pages of the dashboard, change the address without a new document. */
export function startRouter(): void {
  startVisits();
  shown = here();
  addEventListener('popstate', () => {
    leaveVisit();
    returnToVisit();
    if (here() !== shown) returns += 1;
    announce();
  });
  document.addEventListener('click', event => {
    const link = (event.target as Element).closest?.('a[href]');
    if (!(link instanceof HTMLAnchorElement) || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || link.target !== '' || link.hasAttribute('download')) return;
    if (link.origin !== location.origin || /^\/(v1|v2|dashboard|assets)\//.test(link.pathname)) return;
    // The browser itself scrolls to an anchor of this document.
    if (link.hash !== '' && link.pathname + link.search === here()) return;
    event.preventDefault();
    navigate(link.pathname + link.search + link.hash);
  });
}

/** The address without the anchor. */
const here = () => location.pathname + location.search;
