import type { ComponentChildren } from 'preact';
import { unbroken } from '../text/format.js';

/** The answer of a page, in sentences: the first one large. Below it lie the choices of the reader. */
export function FirstLine({ sentences, children }: { sentences: string[]; children?: ComponentChildren }) {
  const [first, ...rest] = sentences;
  return (
    <header class="first-line">
      <h1 class="headline">{first && unbroken(first)}</h1>
      {rest.length > 0 && <p class="rest">{unbroken(rest.join(' '))}</p>}
      {children}
    </header>
  );
}
