import { describe, expect, it } from 'vitest';
import { changedSettings, SETTING_NAMES, settingTexts } from '../../src/engine/setting-texts.js';
import { noSettings } from '../../src/project-settings.js';

const set = (changes: Record<string, string>) => changedSettings(noSettings, changes);
const GIVEN = {
  price: '0.008 USD',
  setup: '90s',
  billing_step: '1m',
  target: '10 m',
  job_url: 'https://ci.example.com/builds/{ci_run}?node={node_index}#{branch}',
  commit_url: 'https://github.com/acme/web/commit/{commit}',
  diff_url: 'http://git.local:3000/acme/web/compare/{before}...{commit}',
};

describe('settings of a project', () => {
  it('are read from texts, and shown as texts that are read again', () => {
    const settings = set(GIVEN);
    const { job_url, commit_url, diff_url } = GIVEN;
    const amounts = { price: { amount: 0.008, currency: 'USD' }, setup: 90, billing_step: 60, target: 600 };
    expect(settings).toEqual({ ...amounts, job_url, commit_url, diff_url });
    expect(settingTexts(settings)).toEqual({ ...GIVEN, billing_step: '60s', target: '600s' });
    expect(set(settingTexts(settings))).toEqual(settings);
  });

  it('are unset by an empty text, and the others stay', () => {
    const changed = changedSettings(set(GIVEN), { price: '', target: '  ' });
    expect(changed).toEqual({ ...set(GIVEN), price: null, target: null });
    expect(Object.keys(set(GIVEN))).toEqual(SETTING_NAMES);
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
  ])('refuse %s = %s', (name, text) => {
    expect(() => set({ [name]: text })).toThrow(`cannot set ${name} to "${text}": it must be`);
  });

  it('refuse a name that is none of them, also one that every object has', () => {
    for (const name of ['colour', 'constructor'])
      expect(() => set({ [name]: 'x' })).toThrow(`cannot set "${name}": the settings of a project are price,`);
  });
});
