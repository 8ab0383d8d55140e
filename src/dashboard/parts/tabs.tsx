/** Views of one page. The chosen one is in the address, so each is a link. */
export function Tabs({ label, tabs, current }: { label: string; tabs: { name: string; title: string; href: string }[]; current: string }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ name, title, href }) => (
        <a key={name} href={href} aria-current={name === current ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}
