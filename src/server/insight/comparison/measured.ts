import { PART_NAMES, type PartName } from '../../../protocol/answers/minutes.js';
import { fileOfPiece, pieceOf } from '../../../protocol/piece-path.js';
import { joinPieces, type PieceTime } from '../../engine/pieces/join-pieces.js';
import { type Minutes, minutesOf } from '../minutes/minutes.js';
import { countedNodes } from '../timeline/counted-nodes.js';
import type { Timeline } from '../timeline/timeline.js';

/** One side of a comparison: the times of a build, or the medians of several. Durations are seconds. */
export interface Measured {
  wall: number;
  floor: number;
  parts: Readonly<Record<PartName, number>>;
  /** By path. */
  files: ReadonlyMap<string, number>;
  /** The number of counted nodes. */
  nodes: number;
}

/** A build with what explains its times. */
export interface MeasuredBuild extends Measured {
  timeline: Timeline;
  minutes: Minutes;
  /** By path: the node that recorded it last. */
  nodeOf: ReadonlyMap<string, number>;
}

export function measuredBuild(timeline: Timeline): MeasuredBuild {
  const minutes = minutesOf(timeline);
  const { wall, floor, parts } = minutes;
  const files = new Map<string, number>();
  const nodeOf = new Map<string, number>();
  const spans = timeline.nodes.flatMap(({ node_index, spans: own }) => own.map(span => ({ span, node_index })));
  for (const { span, node_index } of spans.sort((a, b) => a.span.from - b.span.from)) {
    for (const [i, file] of span.files.entries()) {
      const seconds = span.seconds[i] ?? 0;
      if (!(seconds > 0)) continue;
      files.set(timeline.paths[file]!, seconds);
      nodeOf.set(fileOfPiece(timeline.paths[file]!), node_index);
    }
  }
  return { wall, floor, parts: partsOf(parts), files: wholeFiles(files), nodes: countedNodes(timeline).length, timeline, minutes, nodeOf };
}

/** The times of files, with those of pieces added up. */
function wholeFiles(times: ReadonlyMap<string, number>): Map<string, number> {
  const files = new Map<string, number>();
  const pieces: PieceTime<string>[] = [];
  for (const [path, seconds] of times) {
    const piece = pieceOf(path);
    if (piece) pieces.push({ ...piece, seconds });
    else files.set(path, seconds);
  }
  return new Map([...files, ...joinPieces(pieces)]);
}

function partsOf(parts: Minutes['parts']): Record<PartName, number> {
  return Object.fromEntries(PART_NAMES.map(name => [name, parts.find(part => part.name === name)!.seconds])) as Record<PartName, number>;
}
