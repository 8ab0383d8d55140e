import { expect, it } from 'vitest';
import { networkOf } from '../../../../src/server/api/dashboard/sign-in.js';

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '::ffff:c000:207'],
  ['0000:0000:0000:0000:0000:ffff:c000:0207', '::ffff:c000:207'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8:0:0'],
  ['2001:db8::', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['', ''],
])('the address %s counts as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
