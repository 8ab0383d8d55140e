import type { ComponentChildren } from 'preact';

/** The answer of a page, in sentences: the first one large. Below it lie the choices of the reader. */
export function FirstLine({ sentences, children }: { sentences: string[]; children?: ComponentChildren }) {
  const [first, ...rest] = sentences;
  return (
    <header class="first-line">
      <h1 class="headline">{first}</h1>
      {rest.length > 0 && <p class="rest">{rest.join(' ')}</p>}
      {children}
    </header>
  );
}
