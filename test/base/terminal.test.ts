import { describe, expect, it } from 'vitest';
import { escapeControls } from '../../src/base/terminal.js';

describe('output to a terminal', () => {
  it('has no control or invisible characters', () => {
    for (const [text, shown] of [
      ['\x1b[2J\x07', '\\u001b[2J\\u0007'],
      ['\x9b31m\x7f', '\\u009b31m\\u007f'],
      ['a\nballast: b\r\t', 'a\\u000aballast: b\\u000d\\u0009'],
      ['\u202etxt.js\u2066\u2069', '\\u202etxt.js\\u2066\\u2069'],
      ['a\u200b\u200d\u2060\ufeff\u00ad\u3164\u061cb', 'a\\u200b\\u200d\\u2060\\ufeff\\u00ad\\u3164\\u061cb'],
      ['\u2028\u2029', '\\u2028\\u2029'],
      ['\u{e0041}\ud800', '\\udb40\\udc41\\ud800'],
    ] as const) {
      expect(escapeControls(text)).toBe(shown);
    }
    const plain = 'spec/größe_日本語_😀 [id].spec.ts "quoted" \\ ’ –';
    expect(escapeControls(plain)).toBe(plain);
  });

  it('keeps the value of JSON', () => {
    const value = { 'k\x9b': Array.from({ length: 0x3000 }, (_, i) => String.fromCharCode(i)).join(''), tag: '\u{e0041}\ud800\\\u0085' };
    const json = escapeControls(JSON.stringify(value));
    expect(JSON.parse(json)).toEqual(value);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    expect(json).not.toMatch(/[\0-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f]/);
  });
});
