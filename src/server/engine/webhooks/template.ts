import { limits } from '../../../protocol/limits.js';
import type { WebhookEvent } from './event.js';

/** The words in braces that the strings of a template may have. */
export const TEMPLATE_WORDS = ['text', 'event', 'project', 'branch', 'commit', 'url', 'build_url'] as const;

type TemplateWord = (typeof TEMPLATE_WORDS)[number];

const IN_BRACES = /\{(\w+)\}/g;

/** Throws the rest of the sentence "webhook_template is <text>: it ..." when a text is no template. */
export function assertTemplate(template: string): void {
  if (template === 'json' || template === 'slack') return;
  if (template.length > limits.settingMaxCharacters) throw new Error(`must have at most ${limits.settingMaxCharacters} characters`);
  const [unknown] = [...template.matchAll(IN_BRACES)].map(([, word]) => word!).filter(word => !isWord(word));
  if (unknown !== undefined) throw new Error(`has {${unknown}}; the words are ${TEMPLATE_WORDS.map(word => `{${word}}`).join(', ')}`);
  try {
    JSON.parse(template);
  } catch {
    throw new Error('must be json, slack, or a valid JSON text such as {"text": "{text}"}');
  }
}

/** The JSON that is sent of an event. */
export function bodyOf(template: string | null, { details, ...event }: WebhookEvent): string {
  if (template === null || template === 'json') return JSON.stringify({ ...event, ...details });
  if (template === 'slack') return JSON.stringify({ text: slackText(event.text) });
  return JSON.stringify(filled(JSON.parse(template), word => event[word]));
}

/** A value of JSON whose strings have values in place of words. Names of fields stay as they are. */
function filled(value: unknown, valueOfWord: (word: TemplateWord) => string): unknown {
  if (typeof value === 'string') return value.replace(IN_BRACES, (all, word: string) => (isWord(word) ? valueOfWord(word) : all));
  if (Array.isArray(value)) return value.map(each => filled(each, valueOfWord));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, filled(each, valueOfWord)]));
}

/** Slack reads <!channel> as a mention of all, and a branch may have that name. */
function slackText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function isWord(word: string): word is TemplateWord {
  return (TEMPLATE_WORDS as readonly string[]).includes(word);
}
