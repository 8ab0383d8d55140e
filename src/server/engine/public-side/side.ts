/**
 * The public side of a project has what public tokens send. Anyone may know such a token, so the public side is a project of its own: whatever
 * is kept by project is kept apart. The first public token makes it, and it is renamed and deleted with its owner.
 *
 * Its number tells it, because every request and every plan must know, and none should read a record for that.
 */
export const FIRST_PUBLIC_SIDE = 2 ** 30;

/** Nobody can give a project such a name: see NAME in access.ts. */
export const PUBLIC_SUFFIX = ' (public)';

/** Reports whether a project is the public side of another one. */
export function isPublicSide(project: number): boolean {
  return project >= FIRST_PUBLIC_SIDE;
}

/** The number of the public side of a project, whether it exists or not. */
export function publicSideOf(project: number): number {
  return project + FIRST_PUBLIC_SIDE;
}

/** The project itself, or the one whose public side it is. */
export function ownerOf(project: number): number {
  return isPublicSide(project) ? project - FIRST_PUBLIC_SIDE : project;
}

export function publicSideName(owner: string): string {
  return owner + PUBLIC_SUFFIX;
}

/** The name of the project whose public side this is; null: it is none. */
export function ownerNameOf({ id, name }: { id: number; name: string }): string | null {
  return isPublicSide(id) ? name.slice(0, -PUBLIC_SUFFIX.length) : null;
}
