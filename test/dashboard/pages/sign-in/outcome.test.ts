import { describe, expect, it } from 'vitest';
import { endingOf, landingOf, refusalOf } from '../../../../src/dashboard/pages/sign-in/outcome.js';

describe('after signing in', () => {
  const origin = 'http://ballast.example:8080';

  it('a reader lands on the page that asked for it', () => {
    expect(landingOf('/p/web/files?q=a#b', origin)).toBe('/p/web/files?q=a#b');
    expect(landingOf(null, origin)).toBe('/');
  });

  it.each([
    '//evil.example/',
    '/\\evil.example',
    'http://evil.example/',
    'javascript:alert(1)',
    '/sign-in',
    '/\t/evil.example',
    '/.//evil.example',
  ])('a reader is not sent elsewhere: %s', to => {
    expect(landingOf(to, origin)).toBe('/');
  });
});

describe('who is not signed in', () => {
  it('reads that a session has ended only if there was one', () => {
    expect(endingOf(['your session has ended after 14 days without use: sign in to go on'])).toBe(
      'Your session has ended after 14 days without use: sign in to go on.',
    );
    expect(endingOf(['not signed in; "ballast dashboard link" prints a link that signs in'])).toBe(null);
  });

  const refused = (status: number, isLink: boolean, reasons: string[] = []) => refusalOf({ status, reasons }, isLink);

  it('reads the reason of the server', () => {
    expect(refused(429, false, ['too many failed sign-ins; try again in 8 seconds'])).toBe(
      'Too many failed sign-ins; try again in 8 seconds.',
    );
  });

  it('reads how to get another link', () => {
    for (const text of [refused(401, true), refused(401, false)]) expect(text).toContain('run "ballast dashboard link"');
  });

  it('reads what to do when a proxy or nobody answered', () => {
    expect(refused(429, false)).toContain('Wait');
    expect(refused(502, true)).toBe('The server answered 502. Try again.');
    expect(refused(0, true)).toContain('Nothing was used up');
  });
});
