import { describe, expect, it } from 'vitest';
import { limits } from '../../src/protocol/limits.js';
import { expandLink, isLinkTemplate } from '../../src/protocol/link-template.js';

const JOB = 'https://ci.example.com:8443/r/{branch}/{commit}?run={ci_run}&node={node_index}#{branch}';
const values = { ci_run: '77', node_index: '1', commit: 'c1', branch: 'main' };

describe('a template of an address', () => {
  it('may have its words after the host, and no others', () => {
    for (const text of [JOB, 'http://localhost/{commit}', 'https://a.example/{commit}..{commit}'])
      expect(isLinkTemplate(text, Object.keys(values)), text).toBe(true);
    for (const text of [
      'https://{branch}.example.com/',
      'https://example.com{branch}/',
      'https://example.com:{branch}/',
      'https://user:secret@example.com/{commit}',
      'https://{branch}@example.com/',
      'https://example.com/{before}',
      'https://example.com/{commit',
      'javascript:alert({commit})',
      'ftp://example.com/{commit}',
      '//example.com/{commit}',
      'https:example.com/{commit}',
      'https://example.com/a b',
      'https://example.com/a\nb',
      'https://example.com/\0',
      'https://example.com/\ud800',
      `https://example.com/${'a'.repeat(limits.linkMaxCharacters)}`,
      '',
    ])
      expect(isLinkTemplate(text, Object.keys(values)), text).toBe(false);
  });

  it('stands for the address with its values, percent-encoded', () => {
    expect(expandLink(JOB, values)).toBe('https://ci.example.com:8443/r/main/c1?run=77&node=1#main');
    expect(expandLink(JOB, { ...values, branch: 'fix/größe & co', ci_run: 'a=b#c' })).toBe(
      'https://ci.example.com:8443/r/fix%2Fgr%C3%B6%C3%9Fe%20%26%20co/c1?run=a%3Db%23c&node=1#fix%2Fgr%C3%B6%C3%9Fe%20%26%20co',
    );
    expect(expandLink('https://example.com/a...b', {})).toBe('https://example.com/a...b');
  });

  it.each([
    ['../../evil', '..%2F..%2Fevil'],
    ['@evil.example', '%40evil.example'],
    ['//evil.example/', '%2F%2Fevil.example%2F'],
    ['\\\\evil.example', '%5C%5Cevil.example'],
    ['%2e%2e', '%252e%252e'],
    ['{commit}', '%7Bcommit%7D'],
    ['"><script>alert(1)</script>', '%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E'],
    ['a\r\nHost: evil', 'a%0D%0AHost%3A%20evil'],
    ['$&', '%24%26'],
    ['\u202egpj', '%E2%80%AEgpj'],
    ['half \ud800', 'half%20%EF%BF%BD'],
  ])('stays on its page with the branch %j', (branch, encoded) => {
    expect(expandLink('https://example.com/tree/{branch}/all', { branch })).toBe(`https://example.com/tree/${encoded}/all`);
  });

  it('stands for nothing with a value that is unknown, empty, or a step in a path', () => {
    for (const commit of [null, '', '.', '..', '...']) {
      expect(expandLink('https://example.com/{commit}', { commit })).toBeNull();
      expect(expandLink('https://example.com/{before}...{commit}', { before: 'c0', commit })).toBeNull();
    }
    // A word that is not in the template may be unknown.
    expect(expandLink('https://example.com/{commit}', { before: null, commit: 'c1' })).toBe('https://example.com/c1');
  });
});
