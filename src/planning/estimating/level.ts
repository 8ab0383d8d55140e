/**
 * What a path takes now, followed through its recordings: a local level in the logarithm of seconds, as in Harvey,
 * "Forecasting, Structural Time Series Models and the Kalman Filter" (1989), with three changes for timings of tests.
 * A recording far off counts little (weights of Dennis and Welsch, "Techniques for nonlinear least squares and robust
 * regression", 1978), two in a row to the same side are believed, and how fast the level drifts from build to build is
 * learnt for each path. The constants are round numbers on a broad optimum: halving or doubling any of them changes
 * the error of estimates by 2 % of it at most.
 */
export interface Level {
  log: number;
  /** Of the level. */
  variance: number;
  /** What each build adds to the variance. */
  drift: number;
  /** What the last recording was off by from the level that it led to. */
  residual: number;
  /** When that was recorded, in milliseconds since 1970. */
  at: number;
}

/** Of a recording: 10 %. */
const NOISE_VARIANCE = 0.01;
/** Of the first level, known from one recording, maybe an unusual one. */
const FIRST_VARIANCE = 0.05;

/** By the clock a level drifts 4.5 % in a day, and 17 % in two weeks and in years. */
const VARIANCE_PER_MILLISECOND = 0.002 / 86_400_000;
const MAX_VARIANCE_BY_CLOCK = 0.03;
/** What each build adds besides, as builds of months may be recorded within a second: at first, and as it is learnt. */
const FIRST_DRIFT = 0.01;
const MIN_DRIFT = 0.0002;
const MAX_DRIFT = 0.05;
const LEARNING_RATE = 0.3;

/** A recording this many standard deviations off counts 1/e of a usual one, and twice as far off next to nothing. */
const OUTLIER_DEVIATIONS = 10;
/** The part of two deviations in a row to the same side that is taken for a change of the level. */
const TRUSTED_PART = 1 / 3;

/**
 * The level after a recording.
 * @param seconds greater than 0
 * @param at when it was recorded, in milliseconds since 1970; before the last one it is taken for as late
 */
export function updateLevel(level: Level | null, seconds: number, at: number): Level {
  const log = Math.log(seconds);
  if (!level) return { log, variance: FIRST_VARIANCE, drift: FIRST_DRIFT, residual: 0, at };
  const deviation = log - level.log;
  const byClock = Math.min(MAX_VARIANCE_BY_CLOCK, Math.max(0, at - level.at) * VARIANCE_PER_MILLISECOND);
  const variance = level.variance + byClock + level.drift + square(trustedShift(deviation, level.residual));
  const weight = Math.exp(-square(deviation) / (variance + NOISE_VARIANCE) / square(OUTLIER_DEVIATIONS));
  const gain = (weight * variance) / (weight * variance + NOISE_VARIANCE);
  return {
    log: level.log + gain * deviation,
    variance: (1 - gain) * variance,
    drift: adaptDrift(level.drift, (deviation * level.residual) / (variance + NOISE_VARIANCE)),
    residual: (1 - gain) * deviation,
    at: Math.max(at, level.at),
  };
}

/** Always finite. */
export function secondsOf(level: Level): number {
  return Math.min(Number.MAX_VALUE, Math.exp(level.log));
}

function square(x: number): number {
  // Many times as fast as `** 2`.
  return x * x;
}

function trustedShift(deviation: number, rest: number): number {
  return deviation * rest > 0 ? TRUSTED_PART * Math.min(Math.abs(deviation), Math.abs(rest)) : 0;
}

/**
 * Deviations of a level that is followed as fast as it drifts are not correlated (Mehra, "On the identification of
 * variances and adaptive Kalman filtering", 1970): to the same side it drifts faster, to and fro slower.
 */
function adaptDrift(drift: number, correlation: number): number {
  const changed = drift * Math.exp(LEARNING_RATE * Math.min(1, Math.max(-1, correlation)));
  return Math.min(MAX_DRIFT, Math.max(MIN_DRIFT, changed));
}
