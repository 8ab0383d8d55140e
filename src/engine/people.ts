/** What is kept of the people behind a build, masked. */
export interface People {
  user_seat: string | null;
  build_author: string | null;
}
