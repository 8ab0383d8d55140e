/** A guide of src/docs, rendered when the dashboard is built. */
export interface Guide {
  /** As in /docs/NAME. */
  name: string;
  group: string;
  title: string;
  /** One line of Markdown from the index in README.md. */
  about: string;
  /** Path of its HTML. */
  path: string;
}

declare const GUIDES: Guide[];

/** The guides in the order of the index in README.md. scripts/bundle.mjs puts them here. */
export const guides: readonly Guide[] = GUIDES;
