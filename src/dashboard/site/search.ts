import { groupBy } from '../../base/group-by.js';

/** A part of a guide, from a heading to the next one. */
export interface Section {
  /** As in docs/NAME.html. */
  guide: string;
  /** Of the guide. */
  title: string;
  /** What the index says about the guide. */
  about: string;
  /** Empty: it is the beginning of the guide. */
  anchor: string;
  heading: string;
  text: string;
}

/** A guide that has each word of a search. */
export interface Found {
  /** The section that has most of it. */
  section: Section;
  /** A part of its text: the word is the second of the three. */
  excerpt: [before: string, word: string, after: string];
}

/** What a word counts, by where it is. In the text, each further time counts less, up to this. */
const IN_TITLE = 40;
const IN_ABOUT = 12;
const IN_HEADING = 12;
const IN_TEXT = 10;
const OFTEN = 4;
/** The beginning of a longer word counts as this part of it. */
const BEGINNING = 0.6;

/** Characters of an excerpt before and after the word. */
const BEFORE = 60;
const AFTER = 120;

/** Finds the guides that have all words of a text, or words that begin with them, the best first. */
export function searchGuides(sections: readonly Section[], text: string): Found[] {
  const words = wordsOf(text);
  if (words.length === 0) return [];
  const guides = groupBy(sections, ({ guide }) => guide);
  const found: { score: number; best: Found }[] = [];
  for (const parts of guides.values()) {
    const { title, about, guide } = parts[0]!;
    const scores = words.map(word => {
      const inTitle = IN_TITLE * occurrence(wordsOf(`${title} ${guide}`), word) + IN_ABOUT * occurrence(wordsOf(about), word);
      const inParts = parts.map(part => sectionScore(part, word));
      return inTitle + Math.max(...inParts.map(({ heading }) => heading)) + often(inParts.reduce((sum, { times }) => sum + times, 0));
    });
    if (scores.some(score => score === 0)) continue;
    const best = parts.reduce((best, part) => (rank(part, words) > rank(best, words) ? part : best));
    found.push({ score: scores.reduce((sum, score) => sum + score, 0), best: { section: best, excerpt: excerptOf(best.text, words) } });
  }
  return found.sort((a, b) => b.score - a.score).map(({ best }) => best);
}

/** A guide with the word in its title is shown from its beginning on. */
function rank(part: Section, words: readonly string[]): number {
  return words.reduce((sum, word) => {
    const { heading, times } = sectionScore(part, word);
    const inTitle = part.anchor === '' ? IN_TITLE * occurrence(wordsOf(part.title), word) : 0;
    return sum + inTitle + heading + often(times);
  }, 0);
}

function sectionScore(section: Section, word: string): { heading: number; times: number } {
  const words = known.get(section) ?? wordsOf(section.text);
  known.set(section, words);
  return { heading: IN_HEADING * occurrence(wordsOf(section.heading), word), times: words.filter(each => each.startsWith(word)).length };
}

/** The words of sections that were searched. */
const known = new WeakMap<Section, string[]>();

const often = (times: number) => (IN_TEXT * times) / (times + OFTEN);

/** 1: a word is among others; less: it is the beginning of one; 0: it is not. */
function occurrence(words: readonly string[], word: string): number {
  if (words.includes(word)) return 1;
  return words.some(each => each.startsWith(word)) ? BEGINNING : 0;
}

/** The words of a text in the singular. */
function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map(singular);
}

const singular = (word: string) => word.replace(/(?<=..)(?:ies|ied)$/, 'y').replace(/(?<=..[^s])s$/, '');

function excerptOf(text: string, words: readonly string[]): Found['excerpt'] {
  const match = [...text.matchAll(/[\p{L}\p{N}]+/gu)].find(([word]) => words.some(each => singular(word.toLowerCase()).startsWith(each)));
  if (!match) return ['', '', text.slice(0, BEFORE + AFTER)];
  const [word] = match;
  const end = match.index + word.length;
  const before = text.slice(Math.max(0, match.index - BEFORE), match.index).replace(match.index > BEFORE ? /^\S*\s/ : '', '');
  return [before, word, text.slice(end, end + AFTER).replace(end + AFTER < text.length ? /\s\S*$/ : '', '')];
}
