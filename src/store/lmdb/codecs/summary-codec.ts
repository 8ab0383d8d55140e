import type { DaySummary, Summary } from '../../../engine/ports/summaries.js';

/** Summaries and days as arrays, because the names of fields would take more space than the values. */

type Baselines = [round_robin: number, by_name: number, one_at_a_time: number];

export type SummaryRecord = [
  v: 1,
  recorded: number,
  kind: number,
  started_at: number,
  wall: number,
  floor: number,
  parts: number[],
  nodeTime: number,
  idleTime: number,
  total: number,
  files: number,
  failed: number | null,
  missing: number,
  longest: [path: string, milliseconds: number] | null,
  last: [node_index: number, milliseconds: number] | null,
  decided_by: string | null,
  /** In hundredths, two bytes each: a list reads many summaries, and a build may have 10,000 nodes. */
  slowness: Buffer,
  baselines: Baselines,
  is_running: boolean,
];

const KINDS = ['queue', 'split', 'recordings'] as const;

export function encodeSummary(summary: Summary): SummaryRecord {
  const { recorded, kind, started_at, wall, floor, parts, nodeTime, idleTime, total, files, failed, missing, longest, last, decided_by } =
    summary;
  return [
    1,
    recorded,
    KINDS.indexOf(kind),
    started_at,
    wall,
    floor,
    parts,
    nodeTime,
    idleTime,
    total,
    files,
    failed,
    missing,
    longest && [longest.path, longest.milliseconds],
    last && [last.node_index, last.milliseconds],
    decided_by,
    slownessBytes(summary.slowness),
    toBaselines(summary.baselines),
    summary.is_running,
  ];
}

export function decodeSummary(record: SummaryRecord): Summary {
  const [, recorded, kind, started_at, wall, floor, parts, nodeTime, idleTime, total, files, failed, missing, longest, last, decided_by] =
    record;
  const [slowness, baselines, is_running] = record.slice(16) as [Buffer, Baselines, boolean];
  return {
    recorded,
    kind: KINDS[kind]!,
    started_at,
    is_running,
    wall,
    floor,
    parts,
    nodeTime,
    idleTime,
    total,
    files,
    failed,
    missing,
    longest: longest && { path: longest[0], milliseconds: longest[1] },
    last: last && { node_index: last[0], milliseconds: last[1] },
    decided_by,
    slowness: Array.from({ length: slowness.length >> 1 }, (_, node) => slowness.readUInt16LE(2 * node) / 100),
    baselines: fromBaselines(baselines),
  };
}

const MOST_HUNDREDTHS = 0xffff;

function slownessBytes(slowness: readonly number[]): Buffer {
  const bytes = Buffer.alloc(2 * slowness.length);
  for (const [node, ratio] of slowness.entries()) bytes.writeUInt16LE(Math.min(MOST_HUNDREDTHS, Math.round(100 * ratio)), 2 * node);
  return bytes;
}

export type DayRecord = [
  v: 1,
  builds: number,
  incomplete: number,
  withFailures: number,
  wall: number,
  floor: number,
  parts: number[],
  nodeTime: number,
  idleTime: number,
  baselines: Baselines,
  saved: number,
  /** Bucket and builds, in turns. */
  walls: number[],
];

export function encodeDay({
  builds,
  incomplete,
  withFailures,
  wall,
  floor,
  parts,
  nodeTime,
  idleTime,
  baselines,
  saved,
  walls,
}: DaySummary): DayRecord {
  const pairs = Object.entries(walls).flatMap(([bucket, count]) => [Number(bucket), count]);
  return [1, builds, incomplete, withFailures, wall, floor, parts, nodeTime, idleTime, toBaselines(baselines), saved, pairs];
}

export function decodeDay(day: number, record: DayRecord): DaySummary {
  const [, builds, incomplete, withFailures, wall, floor, parts, nodeTime, idleTime, baselines, saved, pairs] = record;
  const walls: Record<number, number> = {};
  for (let i = 0; i < pairs.length; i += 2) walls[pairs[i]!] = pairs[i + 1]!;
  return {
    day,
    builds,
    incomplete,
    withFailures,
    wall,
    floor,
    parts,
    nodeTime,
    idleTime,
    baselines: fromBaselines(baselines),
    saved,
    walls,
  };
}

function toBaselines({ round_robin, by_name, one_at_a_time }: Summary['baselines']): Baselines {
  return [round_robin, by_name, one_at_a_time];
}

function fromBaselines([round_robin, by_name, one_at_a_time]: Baselines): Summary['baselines'] {
  return { round_robin, by_name, one_at_a_time };
}
