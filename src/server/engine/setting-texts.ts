import { durationText } from '../../base/duration.js';
import { limits } from '../../protocol/limits.js';
import { isLinkTemplate } from '../../protocol/link-template.js';
import {
  LINK_WORDS,
  type Price,
  type ProjectSettings,
  type SettingName,
  type ShownSettings,
  WEBHOOK_EVENTS,
  type WebhookEventName,
} from '../../protocol/project-settings.js';
import { Refusal } from './refusal.js';
import { assertTemplate, TEMPLATE_WORDS } from './webhooks/template.js';

interface Definition<T> {
  help: string;
  /** Returns the value of a text that is not empty, or throws the rest of the sentence "<name> is <text>: it ...". */
  parse(text: string): T;
  /** Returns a text that `parse` reads, or, of a secret, one that it refuses. */
  text(value: T): string;
  /** Nobody is shown the value again. */
  isSecret?: true;
}

const price: Definition<Price> = {
  help: 'what a minute of a node costs, as "0.008 USD"',
  parse(text) {
    const [, amount, currency] = /^(\d{1,6}(?:\.\d{1,6})?) ([A-Z]{3})$/.exec(text.trim()) ?? [];
    if (currency !== undefined && Number(amount) > 0) return { amount: Number(amount), currency };
    throw new Error('must be an amount above 0 with at most 6 decimals, and a currency of three letters, as "0.008 USD"');
  },
  text: ({ amount, currency }) => `${amount} ${currency}`,
};

const UNIT_SECONDS = { s: 1, m: 60, h: 3600 };

const seconds = (help: string, max: number): Definition<number> => ({
  help,
  parse(text) {
    const [, number, unit] = /^(\d{1,6}) ?([smh])$/.exec(text.trim()) ?? [];
    const value = Number(number) * UNIT_SECONDS[unit as 's'];
    if (value >= 1 && value <= max) return value;
    throw new Error(`must be a whole number of seconds, minutes or hours such as 90s, 8m or 1h, of at most ${durationText(max)}`);
  },
  text: value => `${value}s`,
});

const listOf = (words: readonly string[]) => words.map(word => `{${word}}`).join(', ');

/** @param words that it may have in braces, after its host */
const address = (help: string, words: readonly string[]): Definition<string> => ({
  help: words.length === 0 ? help : `${help}, with ${listOf(words)}`,
  parse(text) {
    if (isLinkTemplate(text, words)) return text;
    throw new Error(
      `must be an address that begins with https:// or http://, of at most ${limits.linkMaxCharacters} characters, without a password${words.length === 0 ? '' : `; after the host it may have ${listOf(words)}`}`,
    );
  },
  text: value => value,
});

/** Text that is shown in place of a secret. It is too short for one. */
const SECRET_SHOWN = '(set)';

const webhookSecret: Definition<string> = {
  help: 'signs what is sent to webhook_url; it is not shown again',
  isSecret: true,
  parse(text) {
    if (/^[\x21-\x7e]{16,200}$/.test(text)) return text;
    throw new Error('must have 16 to 200 printable ASCII characters without spaces, as "openssl rand -hex 32" prints them');
  },
  text: () => SECRET_SHOWN,
};

const webhookEvents: Definition<WebhookEventName[]> = {
  help: `the events to send, separated by commas: ${WEBHOOK_EVENTS.join(', ')} (all, if it is not set)`,
  parse(text) {
    const names = text.split(',').map(name => name.trim());
    const wanted = WEBHOOK_EVENTS.filter(name => names.includes(name));
    if (wanted.length === names.length) return wanted;
    throw new Error(`must have some of ${WEBHOOK_EVENTS.join(', ')}, each once, separated by commas`);
  },
  text: names => names.join(','),
};

const webhookTemplate: Definition<string> = {
  help: `json, slack, or the JSON to send, with ${listOf(TEMPLATE_WORDS)} in its strings`,
  parse(text) {
    assertTemplate(text);
    return text;
  },
  text: value => value,
};

/** All settings, in the order in which they are shown. */
export const settingDefinitions: { readonly [K in SettingName]: Definition<NonNullable<ProjectSettings[K]>> } = {
  price,
  setup: seconds('the paid time of a job before its first request to Ballast, as 90s', 86_400),
  billing_step: seconds('a job is paid in whole steps of this time, as 60s', 3600),
  target: seconds('how long a build should take at most, as 10m', 86_400),
  job_url: address('the address of the CI job of a node', LINK_WORDS.job_url),
  commit_url: address('the address of a commit', LINK_WORDS.commit_url),
  diff_url: address('the address of what changed between two commits', LINK_WORDS.diff_url),
  webhook_url: address('where events of the project are sent, as https://hooks.slack.com/services/...', []),
  webhook_secret: webhookSecret,
  webhook_events: webhookEvents,
  webhook_template: webhookTemplate,
};

export const SETTING_NAMES = Object.keys(settingDefinitions) as SettingName[];

/** Settings with some of them changed. An empty text unsets one. Throws a Refusal for an unknown name or a value that cannot be. */
export function changedSettings(settings: ProjectSettings, changes: Readonly<Record<string, string>>): ProjectSettings {
  const changed: Record<SettingName, unknown> = { ...settings };
  for (const [name, text] of Object.entries(changes)) {
    if (!isSetting(name)) throw new Refusal(`cannot set "${name}": the settings of a project are ${SETTING_NAMES.join(', ')}`);
    changed[name] = text.trim() === '' ? null : parsed(name, text.trim());
  }
  return changed as unknown as ProjectSettings;
}

/** The settings as texts; empty: not set. */
export function settingTexts(settings: ProjectSettings): Record<SettingName, string> {
  const texts = SETTING_NAMES.map(name => [name, settings[name] === null ? '' : definitionOf(name).text(settings[name])]);
  return Object.fromEntries(texts) as Record<SettingName, string>;
}

/** The settings without secrets: only whether they are set. */
export function withoutSecrets(settings: ProjectSettings): ProjectSettings {
  return { ...settings, webhook_secret: settings.webhook_secret === null ? null : SECRET_SHOWN };
}

export function shownSettings(settings: ProjectSettings): ShownSettings {
  const { webhook_url: _url, webhook_secret: _secret, webhook_events: _events, webhook_template: _template, ...shown } = settings;
  return shown;
}

function isSetting(name: string): name is SettingName {
  return Object.hasOwn(settingDefinitions, name);
}

function parsed(name: SettingName, text: string): unknown {
  try {
    return definitionOf(name).parse(text);
  } catch (error) {
    const value = definitionOf(name).isSecret ? '' : ` to "${text}"`;
    throw new Refusal(`cannot set ${name}${value}: it ${(error as Error).message}`);
  }
}

/** A value and its definition belong together by their name. */
function definitionOf(name: SettingName): Definition<unknown> {
  return settingDefinitions[name] as Definition<unknown>;
}
