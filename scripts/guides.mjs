import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Marked } from 'marked';

/**
 * Renders the guides of the index in README.md, in its order: {name, group, title, about, text, html}. All are served from one folder: a link
 * between guides leads to NAME.md in the Markdown (`text`), and to the address of the guide in the HTML. Raw HTML is shown as text, and a picture that is not
 * among `pictures` as its description.
 *
 * @param pictures by name as in ../images/NAME: {path, width, height}
 * @param addressOf the address of a guide by its name; undefined: of their index
 */
export function renderGuides(root, pictures, addressOf = name => (name === undefined ? '/docs' : `/docs/${name}`)) {
  const [, index] = readFileSync(join(root, 'README.md'), 'utf8').split(/^## Guides$/m);
  const guides = [];
  let group = '';
  for (const line of index.split(/^## /m)[0].split('\n')) {
    group = /^\| \*\*(.+?)\*\* \|/.exec(line)?.[1] ?? group;
    const [, title, path, name, about] = /^\| \[(.+?)\]\((src\/docs\/[\w-]+\/([\w-]+)\.md)\) \| (.+) \|$/.exec(line) ?? [];
    if (name === undefined) continue;
    const text = readFileSync(join(root, path), 'utf8').replace(/\]\(\.\.\/[\w-]+\/([\w-]+\.md)/g, ']($1');
    guides.push({ name, group, title, about, text, html: render(text, pictures, addressOf) });
  }
  return guides;
}

function render(markdown, pictures, addressOf) {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${escaped(anchor(text))}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        return `<a href="${escaped(target(href, addressOf))}">${this.parser.parseInline(tokens)}</a>`;
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

function target(href, addressOf) {
  if (/^(https?:\/\/|#)/.test(href)) return href;
  const [, name, hash = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  // Other files of the source, such as README.md, are not served.
  return addressOf(name) + hash;
}

function escaped(text) {
  return text.replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`);
}
