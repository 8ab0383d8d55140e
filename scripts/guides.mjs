import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Marked } from 'marked';

/**
 * Renders the guides of the index in README.md, in its order: {name, group, title, about, html}. Links between guides become links to
 * /docs/NAME. Raw HTML is shown as text, and a picture that is not among `pictures` as its description.
 *
 * @param pictures by name as in images/NAME: {path, width, height}
 */
export function renderGuides(root, pictures) {
  const [, index] = readFileSync(join(root, 'README.md'), 'utf8').split(/^## Guides$/m);
  const guides = [];
  let group = '';
  for (const line of index.split(/^## /m)[0].split('\n')) {
    group = /^\| \*\*(.+?)\*\* \|/.exec(line)?.[1] ?? group;
    const [, title, name, about] = /^\| \[(.+?)\]\(src\/docs\/([\w-]+)\.md\) \| (.+) \|$/.exec(line) ?? [];
    if (name === undefined) continue;
    const html = render(readFileSync(join(root, 'src', 'docs', `${name}.md`), 'utf8'), pictures);
    guides.push({ name, group, title, about, html });
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
        const picture = pictures.get(/^images\/([^/]+)$/.exec(href)?.[1]);
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
