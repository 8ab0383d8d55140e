import { loadScript } from './script.js';
import { type Found, type Section, searchGuides } from './search.js';

// The search on the pages of the guides, see scripts/site/guide-pages.ts. What was found stands in the place of the page.

/** The script with the sections of all guides, relative to this one. */
declare const SECTIONS: string;

const box = document.querySelector<HTMLInputElement>('.search input')!;
const main = document.querySelector<HTMLElement>('main')!;
const [page] = main.children as unknown as [HTMLElement];
const list = document.createElement('ol');
list.className = 'found';
const status = document.createElement('p');
status.setAttribute('role', 'status');
const results = document.createElement('section');
results.setAttribute('aria-label', 'Guides that were found');
results.append(status, list);
results.hidden = true;
main.append(results);
/** From the folder of the page to that of the guides. */
const folder = main.dataset.guides!;

let sections: Promise<Section[]> | undefined;

async function search(): Promise<void> {
  const text = box.value.trim();
  sections ??= loadScript(SECTIONS) as Promise<Section[]>;
  const loaded = await sections.catch(() => (sections = undefined));
  // More was typed.
  if (text !== box.value.trim()) return;
  page.hidden = text !== '';
  results.hidden = text === '';
  if (!loaded) {
    status.textContent = 'The search could not be loaded.';
    return;
  }
  const found = searchGuides(loaded, text);
  const guides = found.length === 1 ? '1 guide has' : `${found.length === 0 ? 'No' : found.length} guides have`;
  status.textContent = text === '' ? '' : `${guides} “${text}” in ${found.length === 1 ? 'it' : 'them'}.`;
  list.replaceChildren(...found.map(shown));
}

function shown({ section: { guide, title, anchor, heading }, excerpt: [before, word, after] }: Found): HTMLLIElement {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = `${folder}${guide}.html${anchor && `#${anchor}`}`;
  link.textContent = anchor === '' ? title : `${title}: ${heading}`;
  // The link may lead to a section of this page.
  link.onclick = () => {
    box.value = '';
    page.hidden = false;
    results.hidden = true;
  };
  const text = document.createElement('p');
  text.className = 'small quiet';
  const mark = document.createElement('mark');
  mark.textContent = word;
  text.append(before, mark, after);
  item.append(link, text);
  return item;
}

box.addEventListener('input', () => void search());
addEventListener('keydown', event => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.target === box) return;
  event.preventDefault();
  box.select();
});
// Browsers fill it when one comes back.
if (box.value !== '') void search();
