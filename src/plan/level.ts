/**
 * The level of a path's time over its builds, in log space: a local level that follows a random walk under noise
 * (Harvey 1989, a Kalman filter of one dimension), robust and adaptive. All times are positive.
 */
export interface Level {
  /** Natural logarithm of seconds. */
  log: number;
  /** How far off it may be: the variance of `log`. */
  variance: number;
  /** What a build adds to the variance: grows when the level lags behind, shrinks when it runs after noise. */
  drift: number;
  /** The last residual in standard deviations, bounded. */
  surprise: number;
  /** The sign of the last residual if that was an outlier, else 0. */
  outlier: number;
  /** When the last time was measured, in milliseconds since 1970. */
  at: number;
}

/** Variance of one measured time around the level; what a day adds to the variance. */
const NOISE = 0.01;
const DRIFT_PER_DAY = 0.002;
/** What a build adds at first, and its bounds: builds may be minutes or months apart, and no clock tells. */
const FIRST_DRIFT = 0.02;
const LEAST_DRIFT = 0.0001;
const MOST_DRIFT = 0.1;
/** How fast the drift adapts, and how large a residual that learns from may be, in standard deviations. */
const ADAPTION = 0.3;
const MOST_SURPRISE = 2;
/** A residual beyond so many standard deviations is an outlier: cut to that. */
const OUTLIER = 5;
/** One so many times above the level is absurd, and held back altogether until it repeats. */
const ABSURD_FACTOR = 10;

const DAY_MILLISECONDS = 86_400_000;

/** The level after one more measured time; null: there was none before. An outlier that repeats is followed. */
export function follow(level: Level | null, seconds: number, at: number): Level {
  const log = Math.log(seconds);
  if (level === null) return { log, variance: NOISE, drift: FIRST_DRIFT, surprise: 0, outlier: 0, at };
  const days = Math.max(0, at - level.at) / DAY_MILLISECONDS;
  let variance = level.variance + level.drift + DRIFT_PER_DAY * days;
  let residual = log - level.log;
  const deviation = Math.sqrt(variance + NOISE);
  const surprise = Math.min(MOST_SURPRISE, Math.max(-MOST_SURPRISE, residual / deviation));
  // Residuals of one sign in a row: the level lags. Of alternating signs: it follows noise.
  const drift = level.drift * Math.exp(ADAPTION * surprise * level.surprise);
  const outlier = Math.abs(residual) > OUTLIER * deviation ? Math.sign(residual) : 0;
  if (outlier !== 0 && outlier === level.outlier) variance += residual ** 2 / 2;
  else if (isAbsurd(seconds, secondsOf(level))) residual = 0;
  else if (outlier !== 0) residual = outlier * OUTLIER * deviation;
  const gain = variance / (variance + NOISE);
  return {
    log: level.log + gain * residual,
    variance: (1 - gain) * variance,
    drift: Math.min(MOST_DRIFT, Math.max(LEAST_DRIFT, drift)),
    surprise,
    outlier,
    at: Math.max(at, level.at),
  };
}

export function secondsOf({ log }: Level): number {
  return Math.exp(log);
}

/** A time that says more of the machine than of the test: that of a laptop that was asleep. */
export function isAbsurd(seconds: number, expected: number): boolean {
  return seconds > ABSURD_FACTOR * expected;
}
