import type { ComponentChildren } from 'preact';

/** The line at the top of every page. index.html has it without children, so that a page is never blank while its script is loaded. */
export function Header({ isHome = false, children }: { isHome?: boolean; children?: ComponentChildren }) {
  return (
    <header class="header">
      <div class="bar">
        <a class="brand" href="/" aria-current={isHome ? 'page' : undefined}>
          Ballast
        </a>
        {children}
      </div>
    </header>
  );
}
