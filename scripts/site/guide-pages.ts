import { EXAMPLE, guideHtml } from '../../src/dashboard/pages/docs/guide-html.js';
import type { Section } from '../../src/dashboard/site/search.js';

/** A guide as scripts/guides.mjs renders it. */
export interface Guide {
  name: string;
  group: string;
  title: string;
  about: string;
  html: string;
}

/** What every page of the site has. Addresses are relative to the root of the site. */
export interface Frame {
  version: string;
  style: string;
  icon: string;
  script: string;
}

/** The index of the guides, at the root of the site. */
export function indexPage(guides: readonly Guide[], frame: Frame): string {
  const content = `<div>
<header class="first-line"><h1 class="headline">Ballast makes the parallel nodes of a CI build finish together.</h1>
<p class="rest">These are its guides. <a href="demo/index.html">The recorded demo</a> is its dashboard with invented builds.</p></header>
${groups(guides, null)}
</div>`;
  return guidePage('Ballast', '', content, frame);
}

/** The page of a guide, in docs/. */
export function pageOf(guide: Guide, guides: readonly Guide[], frame: Frame): string {
  const content = `<div class="docs">
<nav aria-label="Guides">
${groups(guides, guide.name)}
</nav>
<div class="guide-text"><article class="guide">${guideHtml(guide.html, EXAMPLE)}</article></div>
</div>`;
  return guidePage(`${guide.title} · Ballast`, '../', content, frame);
}

function groups(guides: readonly Guide[], current: string | null): string {
  const names = [...new Set(guides.map(({ group }) => group))];
  return names.map(name => group(name, guides, current)).join('\n');
}

function group(name: string, guides: readonly Guide[], current: string | null): string {
  const items = guides
    .filter(guide => guide.group === name)
    .map(({ name, title, about }) => {
      const isCurrent = name === current ? ' aria-current="page"' : '';
      const link = `<a href="${current === null ? 'docs/' : ''}${name}.html"${isCurrent}>${escaped(title)}</a>`;
      return `<li>${link}${current === null ? `<span class="quiet"> ${escaped(about)}</span>` : ''}</li>`;
    });
  return `<section class="guides"><h2>${escaped(name)}</h2>\n<ul>\n${items.join('\n')}\n</ul></section>`;
}

/** @param root from the page to the root of the site */
function guidePage(title: string, root: string, content: string, { version, style, icon, script }: Frame): string {
  return `${head(title, root, { style, icon, script })}<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="header"><div class="bar"><a class="brand" href="${root}index.html"${root === '' ? ' aria-current="page"' : ''}>Ballast</a>
<search class="search"><input type="search" aria-label="Search the guides" placeholder="Search the guides" spellcheck="false" autocomplete="off"></search>
<nav class="apart" aria-label="Ballast"><a href="${root}demo/index.html">Demo</a></nav></div></header>
<main id="content" tabindex="-1" data-guides="${root === '' ? 'docs/' : ''}">
${content}
</main>
<footer class="footer small quiet">Ballast ${version}</footer>
</body>
</html>
`;
}

/** The page of the dashboard, in demo/. */
export function demoPage(recordedAt: number, { version, style, icon, script }: Frame): string {
  const day = new Date(recordedAt).toISOString().slice(0, 10);
  return `${head('Ballast', '../', { style, icon, script })}<body>
<noscript>The demo needs JavaScript.</noscript>
<div id="app"><header class="header"><div class="bar"><a class="brand" href="#/">Ballast</a></div></header></div>
<aside class="notice" aria-label="About this demo">This is a recording: invented builds of three projects, as Ballast ${version} showed them on ${day}. Nothing
can be changed, and what was not recorded says so. <a href="../index.html">Guides</a></aside>
</body>
</html>
`;
}

function head(title: string, root: string, { style, icon, script }: Omit<Frame, 'version'>): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<link rel="icon" type="image/svg+xml" href="${root}${icon}">
<link rel="stylesheet" href="${root}${style}">
<script defer src="${root}${script}"></script>
</head>
`;
}

/** The parts of the guides, for the search. */
export function sectionsOf(guides: readonly Guide[]): Section[] {
  return guides.flatMap(({ name, title, about, html }) => {
    const parts = html.split(/(?=<h[1-4] id=)/);
    return parts.map((part, i): Section => {
      const [, anchor = '', heading = ''] = /^<h[1-4] id="([^"]*)">(.*?)<\/h[1-4]>/s.exec(part) ?? [];
      const text = textOf(part.replace(/^<h[1-4].*?<\/h[1-4]>/s, ''));
      return { guide: name, title, about, anchor: i === 0 ? '' : unescaped(anchor), heading: i === 0 ? '' : textOf(heading), text };
    });
  });
}

const textOf = (html: string) =>
  unescaped(html.replace(/<[^>]*>/g, ' '))
    .replace(/\s+/g, ' ')
    .trim();

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };

function unescaped(html: string): string {
  return html.replace(/&(?:#(\d+)|(\w+));/g, (all, code?: string, name?: string) =>
    code === undefined ? (NAMED[name!] ?? all) : String.fromCharCode(Number(code)),
  );
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`);
}
