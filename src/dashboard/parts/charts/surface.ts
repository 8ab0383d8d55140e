import { useLayoutEffect, useState } from 'preact/hooks';

/** Background of the page. Paper is light. */
export type Surface = 'light' | 'dark' | 'paper';

const print = () => matchMedia('print');
const dark = () => matchMedia('(prefers-color-scheme: dark)');
const surfaceNow = (): Surface => (print().matches ? 'paper' : dark().matches ? 'dark' : 'light');

/** The surface, now and after each change. A browser prints what is rendered at the event before printing, and waits for no frame. */
export function useSurface(): Surface {
  const [surface, setSurface] = useState(surfaceNow);
  useLayoutEffect(() => {
    const queries = [print(), dark()];
    const update = () => setSurface(surfaceNow());
    const toPaper = () => setSurface('paper');
    for (const query of queries) query.addEventListener('change', update);
    addEventListener('beforeprint', toPaper);
    addEventListener('afterprint', update);
    return () => {
      for (const query of queries) query.removeEventListener('change', update);
      removeEventListener('beforeprint', toPaper);
      removeEventListener('afterprint', update);
    };
  }, []);
  return surface;
}

/** Reads colours of tokens.css as a canvas takes them: computed, because a canvas knows neither variables nor light-dark(). */
export function readColours<Name extends string>(element: HTMLElement, names: readonly Name[], surface: Surface): Record<Name, string> {
  const probe = element.appendChild(document.createElement('span'));
  // The rules for paper hold only after the event before printing.
  if (surface === 'paper') probe.style.colorScheme = 'light';
  const colours = names.map(name => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(colours) as Record<Name, string>;
}
