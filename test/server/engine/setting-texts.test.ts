import { describe, expect, it } from 'vitest';
import { noSettings } from '../../../src/protocol/project-settings.js';
import { changedSettings, SETTING_NAMES, settingTexts, shownSettings, withoutSecrets } from '../../../src/server/engine/setting-texts.js';

const set = (changes: Record<string, string>) => changedSettings(noSettings, changes);
const GIVEN = {
  price: '0.008 USD',
  setup: '90s',
  billing_step: '1m',
  target: '10 m',
  job_url: 'https://ci.example.com/builds/{ci_run}?node={node_index}#{branch}',
  commit_url: 'https://github.com/acme/web/commit/{commit}',
  diff_url: 'http://git.local:3000/acme/web/compare/{before}...{commit}',
  webhook_url: 'https://hooks.example.com/services/a',
  webhook_events: 'file_grew, gate_failed',
  webhook_template: '{"content": "{text}", "to": ["{project}"]}',
};
const SECRET = '0123456789abcdef';

describe('settings of a project', () => {
  it('are read from texts, and shown as texts that are read again', () => {
    const settings = set(GIVEN);
    const { job_url, commit_url, diff_url, webhook_url, webhook_template } = GIVEN;
    const amounts = { price: { amount: 0.008, currency: 'USD' }, setup: 90, billing_step: 60, target: 600 };
    const webhook = { webhook_url, webhook_secret: null, webhook_events: ['gate_failed', 'file_grew'], webhook_template };
    expect(settings).toEqual({ ...amounts, job_url, commit_url, diff_url, ...webhook });
    const written = { billing_step: '60s', target: '600s', webhook_events: 'gate_failed,file_grew', webhook_secret: '' };
    expect(settingTexts(settings)).toEqual({ ...GIVEN, ...written });
    expect(set(settingTexts(settings))).toEqual(settings);
  });

  it('are unset by an empty text, and the others stay', () => {
    const changed = changedSettings(set(GIVEN), { price: '', target: '  ' });
    expect(changed).toEqual({ ...set(GIVEN), price: null, target: null });
    expect(Object.keys(set(GIVEN))).toEqual(SETTING_NAMES);
  });

  it('never show a secret, and refuse what is shown in its place', () => {
    const settings = { ...set(GIVEN), ...set({ webhook_secret: SECRET }) };
    expect(settings.webhook_secret).toBe(SECRET);
    expect(JSON.stringify([settingTexts(settings), withoutSecrets(settings), shownSettings(settings)])).not.toContain(SECRET);
    expect([settingTexts(settings).webhook_secret, withoutSecrets(settings).webhook_secret]).toEqual(['(set)', '(set)']);
    expect(Object.keys(shownSettings(settings)).filter(name => name.startsWith('webhook'))).toEqual([]);
    for (const text of ['(set)', 'with a space in it', 'x'.repeat(201)]) {
      const change = () => changedSettings(settings, { webhook_secret: text });
      expect(change).toThrow('cannot set webhook_secret: it must have 16 to 200 printable ASCII characters');
      expect(change).not.toThrow(text);
    }
  });

  it('refuse a template that has unknown words or is no JSON', () => {
    expect(() => set({ webhook_template: '{"text": "{txt}"}' })).toThrow('it has {txt}; the words are {text}, {event}');
    expect(() => set({ webhook_template: '{"text": {text}}' })).toThrow('it must be json, slack, or a valid JSON text');
    expect(() => set({ webhook_template: JSON.stringify('x'.repeat(4000)) })).toThrow('it must have at most 4000 characters');
    for (const text of ['json', 'slack', '{"braces": "{ } {}", "none": [null, 1, true]}'])
      expect(set({ webhook_template: text })).toBeTruthy();
  });

  it.each([
    ['price', '0 USD'],
    ['price', '0.008'],
    ['price', '0,008 USD'],
    ['price', '1e9 USD'],
    ['price', '0.008 usd'],
    ['setup', '0s'],
    ['setup', '1.5m'],
    ['billing_step', '2h'],
    ['target', '25h'],
    ['target', 'soon'],
    ['job_url', 'javascript:alert(1)//{ci_run}'],
    ['job_url', 'https://{branch}/builds'],
    ['job_url', 'https://ci.example.com{branch}/builds'],
    ['job_url', 'https://user:secret@ci.example.com/{ci_run}'],
    ['job_url', 'https://ci.example.com/{before}'],
    ['job_url', 'https://ci.example.com/{ci_run'],
    ['commit_url', 'github.com/{commit}'],
    ['commit_url', 'https://github.com/{branch}'],
    ['commit_url', `https://github.com/${'a'.repeat(1000)}`],
    ['diff_url', 'https://git hub.com/{commit}'],
    ['webhook_url', 'ftp://hooks.example.com'],
    ['webhook_url', 'https://user:secret@hooks.example.com'],
  ])('refuse %s = %s', (name, text) => {
    expect(() => set({ [name]: text })).toThrow(`cannot set ${name} to "${text}": it must be`);
  });

  it.each(['gate_failed,colour', 'gate_failed,gate_failed', ','])('refuse the events %s', text => {
    expect(() => set({ webhook_events: text })).toThrow(
      'it must have some of gate_failed, file_grew, runner_slow, became_flaky, each once',
    );
  });

  it('refuse a name that is none of them, also one that every object has', () => {
    for (const name of ['colour', 'constructor'])
      expect(() => set({ [name]: 'x' })).toThrow(`cannot set "${name}": the settings of a project are price,`);
  });
});
