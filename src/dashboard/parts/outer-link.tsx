import type { ComponentChildren } from 'preact';

/** A link to a page of another server, or only its text where the address is not known. The other server does not learn where the link was. */
export function OuterLink({ href, title, children }: { href: string | null; title?: string; children: ComponentChildren }) {
  if (href === null) return <>{children}</>;
  return (
    <a href={href} title={title} rel="noreferrer noopener">
      {children}
    </a>
  );
}
