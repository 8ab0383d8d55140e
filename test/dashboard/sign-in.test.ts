import { describe, expect, it } from 'vitest';
import { landingOf, refusalOf } from '../../src/dashboard/sign-in.js';

describe('after signing in', () => {
  const origin = 'http://ballast.example:8080';

  it('a reader lands on the page that asked for it', () => {
    expect(landingOf('/p/web/files?q=a', origin)).toBe('/p/web/files?q=a');
    expect(landingOf(null, origin)).toBe('/');
  });

  it.each(['//evil.example/', '/\\evil.example', 'http://evil.example/', 'javascript:alert(1)', '/sign-in', '/\t/evil.example'])(
    'a reader is not sent elsewhere: %s',
    to => {
      expect(landingOf(to, origin)).toBe('/');
    },
  );
});

describe('who is not signed in', () => {
  const refused = (status: number, isLink: boolean, reasons: string[] = []) => refusalOf({ status, reasons }, isLink);

  it('reads how to get another link', () => {
    expect(refused(403, true)).toContain('was used, it has expired');
    for (const text of [refused(403, true), refused(403, false)]) expect(text).toContain('ballast dashboard link');
  });

  it('reads that it has to wait', () => {
    expect(refused(429, false, ['too many attempts: 5 in a minute'])).toBe('Too many attempts: 5 in a minute. Wait, then try again.');
  });

  it('reads that the link still works when the server did not answer', () => {
    expect(refused(0, true)).toContain('not used up');
  });
});
