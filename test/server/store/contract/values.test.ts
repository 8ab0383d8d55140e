import { describe, expect, it } from 'vitest';
import { DAY, NOW } from './fixtures.js';
import { stores } from './stores.js';

describe.each(stores)('values in a store in $name', ({ open }) => {
  it('are kept one of each name, until another one or none takes its place', async () => {
    const { values } = await open();
    expect([await values.get('clock'), await values.get('address')]).toEqual([null, null]);
    for (const at of [NOW, NOW - DAY + 0.5]) await values.put('clock', at);
    await values.put('address', 'https://größe\0.example.com');
    expect([await values.get('clock'), await values.get('address'), await values.get('backup')]).toEqual([
      NOW - DAY + 0.5,
      'https://größe\0.example.com',
      null,
    ]);
    await values.put('address', null);
    await values.put('backup', null);
    expect([await values.get('clock'), await values.get('address')]).toEqual([NOW - DAY + 0.5, null]);
  });
});
