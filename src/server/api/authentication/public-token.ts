import { DAY_MILLISECONDS } from '../../../base/time.js';
import { isPublicSide } from '../../engine/public-side/side.js';
import type { Request } from '../../http/request.js';
import { clientFileNames } from '../client-files.js';
import type { Context } from '../context.js';
import { apiErrors } from '../errors.js';

/** The bounds of requests with a public token. Those with a secret token only compare a number. */

type Bounds = Pick<Context, 'publicAllowance' | 'now'>;
type Asking = Pick<Request, 'method' | 'path' | 'isOpenToPublic' | 'clientName'>;

/**
 * Throws when the public side of a project has sent too much today, or the endpoint is not open to it.
 *
 * @param bodyBytes of the request
 */
export function admit({ publicAllowance, now }: Bounds, request: Asking, project: number, bodyBytes: number): void {
  if (!isPublicSide(project)) return;
  assertLeft(publicAllowance.takeRequest(project, bodyBytes, now()), request, now());
  if (!request.isOpenToPublic) throw apiErrors.notPublic(request.method, request.path);
}

/** Throws when the public side of a project may create no queue and no split any more today. */
export function assertRoomForPlan({ publicAllowance, now }: Bounds, request: Asking, project: number): void {
  if (isPublicSide(project)) assertLeft(publicAllowance.lackOfPlans(project, now()), request, now());
}

/** Counts a queue or a split that a request has created. */
export function countPlan({ publicAllowance, now }: Bounds, project: number): void {
  if (isPublicSide(project)) publicAllowance.addPlan(project, now());
}

/** A client of Ballast repeats the request, and then fails or runs every file. Others would run a part of the files, and pass. */
function assertLeft(usedUp: string | null, { clientName }: Asking, at: number): void {
  if (usedUp === null) return;
  const seconds = Math.ceil((DAY_MILLISECONDS - (at % DAY_MILLISECONDS)) / 1000);
  throw clientFileNames.has(clientName) ? apiErrors.publicAllowanceUsed(usedUp, seconds) : apiErrors.publicAllowanceRefused(usedUp);
}
