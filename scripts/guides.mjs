import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Marked } from 'marked';

/**
 * Renders the guides of the index in README.md, in its order: {name, group, title, about, text, html}. All are served from one folder: a link
 * between guides leads to NAME.md in the Markdown (`text`), and to /docs/NAME in the HTML. Raw HTML is shown as text, and a picture that is not
 * among `pictures` as its description.
 *
 * @param pictures by name as in ../images/NAME: {path, width, height}
 */
export function renderGuides(root, pictures) {
  const [, index] = readFileSync(join(root, 'README.md'), 'utf8').split(/^## Guides$/m);
  const guides = [];
  let group = '';
  for (const line of index.split(/^## /m)[0].split('\n')) {
    group = /^\| \*\*(.+?)\*\* \|/.exec(line)?.[1] ?? group;
    const [, title, path, name, about] = /^\| \[(.+?)\]\((src\/docs\/[\w-]+\/([\w-]+)\.md)\) \| (.+) \|$/.exec(line) ?? [];
    if (name === undefined) continue;
    const text = readFileSync(join(root, path), 'utf8').replace(/\]\(\.\.\/[\w-]+\/([\w-]+\.md)/g, ']($1');
    guides.push({ name, group, title, about, text, html: render(text, pictures) });
  }
  return guides;
}

function render(markdown, pictures) {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${escaped(anchor(text))}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        return `<a href="${escaped(target(href))}">${this.parser.parseInline(tokens)}</a>`;
      },
      html: ({ text }) => escaped(text),
      image({ href, text }) {
        const picture = pictures.get(/^\.\.\/images\/([^/]+)$/.exec(href)?.[1]);
        if (!picture) return escaped(text);
        const { path, width, height } = picture;
        // With its size the text does not move when it arrives.
        return `<img src="${path}" alt="${escaped(text)}" width="${width}" height="${height}" loading="lazy">`;
      },
    },
  });
  return marked.parse(markdown);
}

/** The anchor that GitHub makes from a heading. */
function anchor(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function target(href) {
  if (/^(https?:\/\/|#)/.test(href)) return href;
  const [, name, hash = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  // Other files of the source, such as README.md, are not served.
  return name === undefined ? '/docs' : `/docs/${name}${hash}`;
}

function escaped(text) {
  return text.replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`);
}
