import { describe, expect, it } from 'vitest';
import { maskPeople, maskPerson } from '../../../src/api/messages/people.js';

describe('masking people', () => {
  it.each([
    ['John Doe', 'Jo** Do*'],
    ['John Doe <john.doe@example.com>', 'Jo** Do* <jo**.do*@ex*****.co*>'],
    ['Jo Li', 'Jo Li'],
    ['jo_smith42x', 'jo_*****42*'],
    ['Zoë Ångström', 'Zoë Ång***öm'],
    ['李小龍 Bruce', '李小龍 Br***'],
    ['42abc', '42***'],
    ['', ''],
  ])('turns "%s" into "%s", and masking twice changes nothing', (person, masked) => {
    expect(maskPerson(person)).toBe(masked);
    expect(maskPerson(masked)).toBe(masked);
  });

  it('keeps user_seat and build_author, and drops commit_authors', () => {
    const commit_authors = [{ commits: 2, author: 'Jane Roe' }];
    const message = { user_seat: 'John Doe', build_author: 'Jane Roe', commit_authors };
    expect(maskPeople(message)).toEqual({ user_seat: 'Jo** Do*', build_author: 'Ja** Ro*' });
    expect(maskPeople({})).toEqual({ user_seat: null, build_author: null });
  });

  it('keeps the hex digest that some clients send as user_seat', () => {
    const user_seat = '5f4dcc3b5aa765d61d8327deb882cf99a3c1e4f05f4dcc3b5aa765d61d8327de';
    expect(maskPeople({ user_seat }).user_seat).toBe(user_seat);
  });
});
