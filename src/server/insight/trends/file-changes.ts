import { type ChangePoint, changePoints } from '../../planning/estimating/change-point.js';

/** A change may be found this many builds before or after the one in which it happened. */
const NEAR = 2;

/**
 * The changes of what a file took, in their order. Where it began to run in pieces, or ended to, is none: each piece takes the set-up of the
 * file again, and no commit did that.
 *
 * @param seconds by build
 * @param isCut by build: whether the file ran in pieces
 */
export function fileChanges(seconds: ArrayLike<number>, isCut: ArrayLike<number | boolean>): ChangePoint[] {
  return changePoints(seconds).filter(({ index }) => {
    const near = Array.from({ length: 2 * NEAR + 2 }, (_, i) => isCut[index - NEAR - 1 + i]).filter(each => each !== undefined);
    return near.every(each => each === near[0]);
  });
}
