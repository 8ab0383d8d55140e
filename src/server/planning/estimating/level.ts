/**
 * The current duration of a path, followed through its recordings: a local level in the logarithm of seconds, as in Harvey,
 * "Forecasting, Structural Time Series Models and the Kalman Filter" (1989), with three changes for test timings.
 * An outlier counts little (weights of Dennis and Welsch, "Techniques for nonlinear least squares and robust regression",
 * 1978). Two deviations in a row to the same side count as a change of the level. How fast the level drifts from build to
 * build is learned for each path. The constants are round numbers on a broad optimum: halving or doubling any of them changes
 * the estimation error by at most 2 % of it.
 *
 * The numbers have the precision in which a store keeps them, so that an estimate is the same before and after they are written.
 */
export interface Level {
  log: number;
  /** The variance of the level. */
  variance: number;
  /** The amount that each build adds to the variance. */
  drift: number;
  /** The deviation of the last recording from the level after it. */
  residual: number;
  /** When the last recording was made, in milliseconds since 1970, a whole second. */
  at: number;
  /** The number of recordings that the level follows. */
  builds: number;
}

/** The variance of a recording: 10 %. */
const NOISE_VARIANCE = 0.01;
/** The variance of a level after its first recording, which may be unusual. */
const FIRST_VARIANCE = 0.05;

/** With time alone, a level drifts by 4.5 % in a day, and by 17 % in two weeks or longer. */
const VARIANCE_PER_MILLISECOND = 0.002 / 86_400_000;
const MAX_VARIANCE_BY_CLOCK = 0.03;
/** The variance that each build adds, because an import may record builds of months within a second: the first value, and the bounds of learning. */
const FIRST_DRIFT = 0.01;
const MIN_DRIFT = 0.0002;
const MAX_DRIFT = 0.05;
const LEARNING_RATE = 0.3;

/** A recording this many standard deviations off counts 1/e of a usual one, and one twice as far off hardly counts. */
const OUTLIER_DEVIATIONS = 10;
/** The part of two deviations in a row to the same side that counts as a change of the level. */
const TRUSTED_PART = 1 / 3;

/**
 * Returns the level after a recording.
 * @param seconds greater than 0
 * @param at when it was made, in milliseconds since 1970; a time before the last recording counts as the time of that
 */
export function updateLevel(level: Level | null, seconds: number, at: number): Level {
  const log = Math.log(seconds);
  if (!level) return stored({ log, variance: FIRST_VARIANCE, drift: FIRST_DRIFT, residual: 0, at, builds: 1 });
  const deviation = log - level.log;
  const byClock = Math.min(MAX_VARIANCE_BY_CLOCK, Math.max(0, at - level.at) * VARIANCE_PER_MILLISECOND);
  const variance = level.variance + byClock + level.drift + square(trustedShift(deviation, level.residual));
  const weight = Math.exp(-square(deviation) / (variance + NOISE_VARIANCE) / square(OUTLIER_DEVIATIONS));
  const gain = (weight * variance) / (weight * variance + NOISE_VARIANCE);
  return stored({
    log: level.log + gain * deviation,
    variance: (1 - gain) * variance,
    drift: adaptDrift(level.drift, (deviation * level.residual) / (variance + NOISE_VARIANCE)),
    residual: (1 - gain) * deviation,
    at: Math.max(at, level.at),
    builds: level.builds + 1,
  });
}

/** Rounds a level to what a store keeps of it. */
function stored(level: Level): Level {
  level.log = Math.fround(level.log);
  level.variance = Math.fround(level.variance);
  level.drift = Math.fround(level.drift);
  level.residual = Math.fround(level.residual);
  level.at = Math.floor(level.at / 1000) * 1000;
  return level;
}

/** Returns the duration in seconds, which is always finite. */
export function secondsOf(level: Level): number {
  return Math.min(Number.MAX_VALUE, Math.exp(level.log));
}

/** The usual deviation of the next recording from the level, in the logarithm of seconds. */
export function deviationOf({ variance, drift }: Pick<Level, 'variance' | 'drift'>): number {
  return Math.sqrt(variance + drift + NOISE_VARIANCE);
}

/** The usual deviation after the first recording. */
export const FIRST_DEVIATION = deviationOf({ variance: FIRST_VARIANCE, drift: FIRST_DRIFT });

function square(x: number): number {
  // `** 2` takes many times as long.
  return x * x;
}

function trustedShift(deviation: number, residual: number): number {
  return deviation * residual > 0 ? TRUSTED_PART * Math.min(Math.abs(deviation), Math.abs(residual)) : 0;
}

/**
 * Deviations are not correlated when the drift is right (Mehra, "On the identification of variances and adaptive Kalman
 * filtering", 1970). Deviations to the same side mean that the level drifts faster, alternating ones that it drifts slower.
 */
function adaptDrift(drift: number, correlation: number): number {
  const adapted = drift * Math.exp(LEARNING_RATE * Math.min(1, Math.max(-1, correlation)));
  return Math.min(MAX_DRIFT, Math.max(MIN_DRIFT, adapted));
}
