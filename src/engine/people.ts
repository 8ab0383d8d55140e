/** The stored people of a build, masked. */
export interface People {
  user_seat: string | null;
  build_author: string | null;
}
