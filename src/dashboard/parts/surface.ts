import { useLayoutEffect, useState } from 'preact/hooks';

/** What the page is shown on. Paper is light. */
export type Surface = 'light' | 'dark' | 'paper';

const isPrint = () => matchMedia('print');
const isDark = () => matchMedia('(prefers-color-scheme: dark)');
const surfaceNow = (): Surface => (isPrint().matches ? 'paper' : isDark().matches ? 'dark' : 'light');

/** The surface, now and after each change. A browser waits with printing until everything is rendered for paper, but for no frame. */
export function useSurface(): Surface {
  const [surface, setSurface] = useState(surfaceNow);
  useLayoutEffect(() => {
    const queries = [isPrint(), isDark()];
    const update = () => setSurface(surfaceNow());
    const print = () => setSurface('paper');
    for (const query of queries) query.addEventListener('change', update);
    addEventListener('beforeprint', print);
    addEventListener('afterprint', update);
    return () => {
      for (const query of queries) query.removeEventListener('change', update);
      removeEventListener('beforeprint', print);
      removeEventListener('afterprint', update);
    };
  }, []);
  return surface;
}

/** Reads colours of tokens.css as a canvas takes them: it does not know variables and light-dark(), the computed colour of an element does. */
export function readColours<Name extends string>(element: HTMLElement, names: readonly Name[], surface: Surface): Record<Name, string> {
  const probe = element.appendChild(document.createElement('span'));
  // Media rules for paper hold later than the event before printing.
  if (surface === 'paper') probe.style.colorScheme = 'light';
  const colours = names.map(name => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(colours) as Record<Name, string>;
}
