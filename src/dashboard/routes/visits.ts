import { type Dispatch, type StateUpdater, useLayoutEffect, useRef, useState } from 'preact/hooks';

/**
 * State of each entry of the history, so that back and forward show it as it was left: the lists that were loaded, the position, and the link that
 * had the focus.
 */
interface Visit {
  kept: Map<string, unknown>;
  scroll: number;
  /** The address of the link with the focus, as it is written; null: none had it. */
  link: string | null;
}

/** Visits that are kept; older ones start like a link. A list or the timeline of a large project is megabytes. */
const MOST = 8;
/** The name of the positions in the storage of the session. */
const POSITIONS = 'positions';

/** By the state of their entries in the history, the last one that was seen at the end. */
const visits = new Map<number, Visit>();
let current = 0;
/** The position to which the page is scrolled as soon as it is long enough; null: the reader scrolls it. */
let awaited: number | null = null;
let stopAwaiting = () => {};

/** Makes a visit the current one. */
function enter(number: number, visit = visits.get(number) ?? visitAt(0)): Visit {
  visits.delete(number);
  visits.set(number, visit);
  const [oldest] = visits.keys();
  if (visits.size > MOST) visits.delete(oldest!);
  current = number;
  return visit;
}

const visitAt = (scroll: number): Visit => ({ kept: new Map(), scroll, link: null });

/** State that is there again when the reader comes back to it. `name` tells it from the others of its page. */
export function useKept<T>(name: string, initial: T): [T, Dispatch<StateUpdater<T>>] {
  const [value, setValue] = useState<T>(() => (visits.get(current)?.kept.get(name) as T | undefined) ?? initial);
  const last = useRef(name);
  useLayoutEffect(() => {
    const kept = visits.get(current)?.kept;
    // Of each search that is typed, only the last one is kept.
    if (last.current !== name) kept?.delete(last.current);
    last.current = name;
    kept?.set(name, value);
  });
  return [value, setValue];
}

/** Position of the page, or the one that it will have once its rows are there. */
export function scrolled(): number {
  return awaited ?? scrollY;
}

/** Before the address changes: notes the position and the focus. */
export function leaveVisit(): void {
  const visit = visits.get(current);
  if (visit) Object.assign(visit, { scroll: scrolled(), link: document.activeElement?.getAttribute('href') ?? null });
  stopAwaiting();
}

/** Returns the state of a new entry of the history. */
export function newVisit(): number {
  enter(performance.timeOrigin + performance.now());
  return current;
}

/** Goes to the visit of the current entry of the history; an entry without one gets a new one. */
export function returnToVisit(): void {
  const number = history.state as number | null;
  if (number === null) history.replaceState(newVisit(), '');
  else awaitScroll(enter(number));
}

/** Forgets what all visits showed: it was for the one who was signed in. */
export function forgetVisits(): void {
  for (const visit of visits.values()) visit.kept.clear();
}

/** Has this page, and not the browser, find its positions: only it knows when the rows are there. */
export function startVisits(): void {
  history.scrollRestoration = 'manual';
  for (const [number, scroll] of JSON.parse(sessionStorage.getItem(POSITIONS) ?? '[]') as [number, number][])
    enter(number, visitAt(scroll));
  // A page that is loaded again finds its positions, too.
  addEventListener('pagehide', () => {
    leaveVisit();
    sessionStorage.setItem(POSITIONS, JSON.stringify([...visits].map(([number, { scroll }]) => [number, scroll])));
  });
  returnToVisit();
}

const INTERVENTIONS = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;

/** Scrolls to a position each time that the page grows, until it is reached or the reader does something. */
function awaitScroll({ scroll: position, link }: Visit): void {
  awaited = position;
  const grown = new ResizeObserver(() => {
    scrollTo(0, position);
    if (scrollY < position - 1) return;
    stopAwaiting();
    // A frame later, a long table has drawn the rows at the position.
    if (link !== null) requestAnimationFrame(() => focusLink(link));
  });
  stopAwaiting = () => {
    grown.disconnect();
    for (const name of INTERVENTIONS) removeEventListener(name, stopAwaiting);
    awaited = null;
    stopAwaiting = () => {};
  };
  for (const name of INTERVENTIONS) addEventListener(name, stopAwaiting, { passive: true });
  grown.observe(document.body);
}

function focusLink(link: string): void {
  document.querySelector<HTMLElement>(`main a[href="${CSS.escape(link)}"]`)?.focus({ preventScroll: true });
}
