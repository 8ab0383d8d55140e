/** When the demo was recorded, in milliseconds since 1970. */
declare const RECORDED_AT: number;

/** Stands in for `Date`: now is the time of the recording. */
class RecordedDate extends globalThis.Date {
  constructor(time: number | string = RECORDED_AT) {
    super(time);
  }

  static override now(): number {
    return RECORDED_AT;
  }
}

export { RecordedDate as Date };
