/** Where the wall time of a CI run went. `parts` add up to `wall` exactly, in whole milliseconds. */
export interface Minutes {
  /** From the start of the first node to the end of the last one. */
  wall: number;
  /** No plan with whole files could have ended sooner on these nodes at their usual speed: even share + longest file. */
  floor: number;
  parts: MinutePart[];
}

export const PART_NAMES = ['even_share', 'longest_file', 'slow_nodes', 'estimates', 'late_starts', 'gaps', 'repeats', 'idle'] as const;
export type PartName = (typeof PART_NAMES)[number];

/** In milliseconds of wall time. */
export interface MinutePart {
  name: PartName;
  milliseconds: number;
  /** Its cause by node, in milliseconds of node time, where it has one. */
  nodes: { node_index: number; milliseconds: number }[];
}
