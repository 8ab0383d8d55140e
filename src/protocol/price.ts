import { rounded } from '../base/rounding.js';
import type { Price, ProjectSettings } from './project-settings.js';

/** The settings that determine the cost of a job. */
export type PriceSettings = Pick<ProjectSettings, 'price' | 'setup' | 'billing_step'>;

/** Cost of jobs that ran for these seconds, from the first request of their node to its end. Null: the project has no price. */
export function costOf(settings: PriceSettings, jobs: readonly number[]): Price | null {
  return priceOf(
    settings,
    jobs.map(seconds => [seconds, 1]),
  );
}

/** The same of durations with the number of jobs that ran so long. */
export function priceOf(settings: PriceSettings, jobs: readonly (readonly [seconds: number, jobs: number])[]): Price | null {
  const { price } = settings;
  const paid = jobs.reduce((sum, [seconds, count]) => sum + count * paidSecondsOf(settings, seconds), 0);
  return price && { amount: rounded((price.amount * paid) / 60, 1e6), currency: price.currency };
}

/** The time of jobs that is paid: with their set-up, in whole steps. */
export function paidSeconds(settings: PriceSettings, jobs: readonly number[]): number {
  return jobs.reduce((sum, seconds) => sum + paidSecondsOf(settings, seconds), 0);
}

function paidSecondsOf({ setup, billing_step: step }: PriceSettings, seconds: number): number {
  const whole = seconds + (setup ?? 0);
  return step !== null && step > 0 ? step * Math.ceil(whole / step) : whole;
}

/** An amount as `$1,204`, `$12.40`, `$0.064`: to the cent, and below ten cents to two digits. */
export function priceText({ amount, currency }: Price): string {
  const size = Math.abs(amount);
  const digits =
    size >= 1000
      ? { maximumFractionDigits: 0, minimumFractionDigits: 0 }
      : size > 0 && size < 0.1
        ? { maximumFractionDigits: Math.min(10, 1 + Math.ceil(-Math.log10(size))) }
        : {};
  return new Intl.NumberFormat('en', { style: 'currency', currency, ...digits }).format(amount);
}
