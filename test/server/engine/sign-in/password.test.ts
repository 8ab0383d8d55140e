import { describe, expect, it } from 'vitest';
import { hashPassword, isPassword, PASSWORD_COST } from '../../../../src/server/engine/sign-in/password.js';

const CHEAP = { N: 2, r: 1, p: 1 };

describe('a password', () => {
  it('is kept as a hash with a salt of its own and its cost', async () => {
    const [one, two] = [await hashPassword('twelve chars', 5, CHEAP), await hashPassword('twelve chars', 5, CHEAP)];
    expect(one).toEqual({
      salt: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      cost: CHEAP,
      created_at: 5,
    });
    expect([one.salt === two.salt, one.hash === two.hash]).toEqual([false, false]);
    expect([await isPassword('twelve chars', one, PASSWORD_COST), await isPassword('twelve charS', one, PASSWORD_COST)]).toEqual([
      true,
      false,
    ]);
  });

  it('costs what is recommended', () => {
    expect(PASSWORD_COST).toEqual({ N: 32_768, r: 8, p: 3 });
  });

  it.each([11, 1025])('of %i characters is refused', async length => {
    await expect(hashPassword('x'.repeat(length), 0, CHEAP)).rejects.toThrow(
      `cannot set the password: it has ${length} characters; it must have 12 to 1024`,
    );
  });
});
