import { describe, expect, it } from 'vitest';
import { costOf, priceOf, priceText } from '../../src/protocol/price.js';

const settings = { price: { amount: 0.6, currency: 'USD' }, setup: null, billing_step: null };

describe('what jobs cost', () => {
  it('is their time with the set-up of each, in whole steps of each', () => {
    expect(costOf(settings, [60, 30])).toEqual({ amount: 0.9, currency: 'USD' });
    expect(costOf({ ...settings, setup: 30 }, [60, 30])?.amount).toBeCloseTo(1.5, 9);
    expect(costOf({ ...settings, setup: 30, billing_step: 60 }, [60, 30])?.amount).toBeCloseTo(1.8, 9);
    expect(costOf({ ...settings, billing_step: 60 }, [60, 60.001])?.amount).toBeCloseTo(1.8, 9);
    expect(costOf(settings, [])?.amount).toBe(0);
    expect(costOf({ ...settings, price: null }, [60])).toBeNull();
    const paid = { ...settings, setup: 30, billing_step: 60 };
    const times: [number, number][] = [
      [30, 2],
      [31, 1],
    ];
    expect(priceOf(paid, times)).toEqual(costOf(paid, [30, 30, 31]));
  });
});

describe('an amount', () => {
  it.each([
    [12.4, 'USD', '$12.40'],
    [0.0642, 'USD', '$0.064'],
    [0, 'USD', '$0.00'],
    [0.997, 'USD', '$1.00'],
    [0.5, 'USD', '$0.50'],
    [0.099, 'USD', '$0.099'],
    [0.0005, 'USD', '$0.0005'],
    [1e-12, 'USD', '$0.00'],
    [1204.4, 'EUR', '€1,204'],
    [999, 'JPY', '¥999'],
    [-3.5, 'USD', '-$3.50'],
    [3, 'XTS', 'XTS 3.00'],
  ])('of %s %s is written as %s', (amount, currency, text) => {
    expect(priceText({ amount, currency }).replace('\u00a0', ' ')).toBe(text);
  });
});
