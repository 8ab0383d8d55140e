import { median } from '../../planning/estimating/median.js';
import type { TimelineFiles } from '../timeline/timeline.js';
import type { Observed } from './observed.js';
import type { PlayedSuite } from './play.js';

/** Fewer files than this do not show how times deviate from estimates. */
const MIN_FILES = 20;
/** A file deviates like one of those next to it in the order of durations: this part of all files, on either side. */
const NEIGHBOURS = 0.05;
/** Small suites are drawn more often than large ones, whose deviations even out: about as many files in all. */
const DRAWN_FILES = 20_000;
const MAX_DRAWS = 20;

/**
 * Returns how the recorded times of a build deviate from its estimates: the logarithms of their ratios, by estimate in descending order.
 * Their median is 0, because what all files have in common is the machines of that build. Empty: too few files had an estimate.
 *
 * @param speeds by node (see `speedsOf`)
 */
export function deviationsOf({ seconds, nodes }: Observed, speeds: Float64Array, { estimates, is_guess }: TimelineFiles): Float64Array {
  const measured = [...seconds.keys()].filter(file => seconds[file]! > 0 && (estimates[file] ?? 0) > 0 && is_guess[file] === 0);
  if (measured.length < MIN_FILES) return new Float64Array();
  measured.sort((a, b) => estimates[b]! - estimates[a]!);
  const logs = measured.map(file => Math.log((seconds[file]! * speeds[nodes[file]!]!) / estimates[file]!));
  const usual = median(logs);
  return Float64Array.from(logs, log => log - usual);
}

/**
 * Returns the suite several times with other durations: each file deviates from its seconds, up or down, as much as a file that has about
 * the same place in the order of durations. In every second draw each file deviates to the other side, and the mean of the two is its
 * seconds. The same arguments give the same durations. Without deviations it is the suite itself, once.
 *
 * @param deviations see `deviationsOf`
 */
export function drawSuites(suite: PlayedSuite, deviations: Float64Array): PlayedSuite[] {
  if (deviations.length === 0) return [suite];
  const { weights, seconds } = suite;
  const random = seededRandom(1);
  const last = deviations.length - 1;
  /** The part of its time by which a file takes longer in one draw and shorter in the next. Either may come first. */
  const drawPart = (_: number, file: number) => {
    const place = file / seconds.length + NEIGHBOURS * (2 * random() - 1);
    // The ratio (1 + part) / (1 - part) is exp(2 x deviation).
    const part = Math.tanh(deviations[Math.round(last * Math.min(1, Math.max(0, place)))]!);
    return random() < 0.5 ? part : -part;
  };
  return Array.from({ length: drawsOf(suite, deviations) / 2 }).flatMap(() => {
    const parts = seconds.map(drawPart);
    return [1, -1].map(side => ({ weights, seconds: seconds.map((time, file) => time * (1 + side * parts[file]!)) }));
  });
}

/** Number of draws in which `drawSuites` returns the suite. */
export function drawsOf({ seconds }: PlayedSuite, deviations: Float64Array): number {
  return deviations.length === 0 ? 1 : 2 * Math.min(MAX_DRAWS / 2, Math.ceil(DRAWN_FILES / 2 / seconds.length));
}

/** A generator of numbers from 0 to 1. */
export type Random = () => number;

/** Returns a generator whose numbers are determined by the seed (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
