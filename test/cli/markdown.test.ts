import fc from 'fast-check';
import { marked } from 'marked';
import { describe, expect, it } from 'vitest';
import { escapeControls } from '../../src/base/terminal.js';
import { code, link, plain, sentence, table } from '../../src/cli/node/text/markdown.js';

describe('Markdown', () => {
  it.each([
    ['<img src=x onerror=alert(1)>', '\\<img src=x onerror=alert(1)\\>'],
    ['[a](b) `c` *d* _e_ ~f~ |g| $h$ #1', '\\[a\\](b) \\`c\\` \\*d\\* \\_e\\_ \\~f\\~ \\|g\\| \\$h\\$ \\#1'],
    ['ask @team at https://a.b or www.c.d', 'ask @<!-- -->team at https\\://a.b or www\\.c.d'],
    ['one\ntwo \u202Egnp.exe', 'one\\\\u000atwo \\\\u202egnp.exe'],
  ])('of the text %j is plain', (text, expected) => {
    expect(plain(text)).toBe(expected);
  });

  it.each([
    ['a_spec.rb', '`a_spec.rb`'],
    ['a`b``c', '``` a`b``c ```'],
    ['a|b', '`a`&#124;`b`'],
    ['|', '&#124;'],
    ['  ', '`  `'],
    [' a', '`  a `'],
    ['a\nb', '`a\\u000ab`'],
  ])('of the path %j is a code span', (path, expected) => {
    expect(code(path)).toBe(expected);
  });

  it('has the longest known path of a sentence as code', () => {
    expect(sentence('x/*.rb took 3x, not *.rb', ['*.rb', 'x/*.rb'])).toBe('`x/*.rb` took 3x, not `*.rb`');
    expect(sentence('a.rb and x/b.rb failed', ['a.rb', 'x/b.rb'])).toBe('`a.rb` and `x/b.rb` failed');
  });

  it.each([
    ['https://a.b/p/web/builds/1?tab=compare', '[Compare](<https://a.b/p/web/builds/1?tab=compare>)'],
    ['https://a.b/x>) [y](z|w', '[Compare](<https://a.b/x%3E)%20[y](z%7Cw>)'],
    ['javascript:alert(1)', ''],
    ['/p/web', ''],
  ])('of the address %s is a link of the Web, or nothing', (address, expected) => {
    expect(link('Compare', address)).toBe(expected);
  });

  it('has tables', () => {
    expect(table(['a', '>b'], [['1', '2']])).toEqual(['| a | b |', '| --- | --: |', '| 1 | 2 |']);
  });

  const HOSTILE = [
    '\\',
    '|',
    '`',
    '\\|',
    '\\\\|',
    '![x](http://e)',
    '[x](http://e)',
    '<img src=x>',
    '<!--',
    '-->',
    '&#124;',
    '@team',
  ].concat([
    'a@b.c',
    'www.a.b',
    'http://e',
    'https://e',
    '\n',
    '\r',
    '\0',
    '\u202e',
    '\ud800',
    ' ',
    '\u00a0',
    '~',
    '*',
    '_',
    '$',
    '#',
    'a',
    ':',
    '.',
  ]);
  const names = fc
    .array(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...HOSTILE) }, fc.string({ maxLength: 3, unit: 'binary' })), { minLength: 1 })
    .map(parts => parts.join(''))
    .filter(name => name !== '');

  it('shows any name in a cell and in a list as it is, and nothing else', () => {
    fc.assert(
      fc.property(names, names, (name, other) => {
        const lines = table(
          [plain(other), 'time'],
          [
            [code(name), '1 s'],
            [plain(name), '2 s'],
          ],
        );
        expect(htmlOf(lines.join('\n'), 'td').map(textIn)).toEqual([shown(name), '1 s', shown(name), '2 s']);
        expect(htmlOf(`- ${code(name)}`, 'li').map(textIn)).toEqual([shown(name)]);
      }),
    );
  });

  it('does not cut a character in two for a path that is half of it', () => {
    expect(sentence('It was \u{10000}.', ['\ud800'])).toBe('It was \u{10000}.');
  });

  it('shows any sentence as it is, whatever paths it has', () => {
    fc.assert(
      fc.property(fc.array(names), names, (paths, text) => {
        const told = `It was ${paths.join('')}${text}.`;
        expect(htmlOf(sentence(told, paths), 'p').map(textIn)).toEqual([shown(told)]);
      }),
    );
  });
});

/** The contents of all elements with a name. */
function htmlOf(markdown: string, element: string): string[] {
  const html = marked.parse(markdown, { async: false });
  return [...html.matchAll(new RegExp(`<${element}( align="\\w+")?>(.*?)</${element}>`, 'gs'))].map(([, , content]) => content!);
}

const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&#124;': '|' };

/** The text that a browser shows: only code and a comment are no text. */
function textIn(html: string): string {
  const text = html.replaceAll(/<\/?code>|<!-- -->/g, '').replaceAll(/&#?\w+;/g, entity => ENTITIES[entity] ?? 'no entity of ours');
  return text.replaceAll(/ +/g, ' ').trim();
}

/** A name as people read it: a browser shows spaces as one. */
function shown(name: string): string {
  return escapeControls(name).replaceAll(/ +/g, ' ').trim();
}
