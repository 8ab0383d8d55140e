import { buildLines, type Line } from '../../engine/insight/trends/overview.js';
import { decidedBy, idleShare, savedTime } from '../../engine/insight/trends/summary.js';
import type { Summary } from '../../engine/ports/summaries.js';
import type { Answer, Request } from '../../http/request.js';
import { timestamp } from '../../time.js';
import { projectOf } from '../authenticate.js';
import type { Context } from '../context.js';
import { decodeQuery } from '../decode.js';
import { json, secondsOf } from '../json.js';
import { toBuildLinesQuery } from '../messages/insight/queries.js';
import type { BuildLine, BuildLineSummary, BuildLines } from '../messages/insight/trends.js';

const DEFAULT_LIMIT = 50;
/** A cursor is the number of a build in this base. */
const CURSOR_BASE = 36;

/** GET /v1/build_summaries: builds with what is known of each without reading its runs, newest first. */
export async function buildSummaries(context: Context, request: Request): Promise<Answer> {
  const { store, summarizer, now } = context;
  const project = await projectOf(context, request);
  const { cursor, limit = DEFAULT_LIMIT, failed = false, ...filter } = toBuildLinesQuery(decodeQuery(request.query));
  const before = cursor === undefined ? null : Number.parseInt(cursor, CURSOR_BASE);
  const { lines, last, total, searchedTo, outdated } = await buildLines(store, project, { filter, failed, before, limit }, now());
  for (const build of outdated) summarizer.outdated(build);
  const answer: BuildLines = {
    builds: lines.map(lineAnswer),
    next: last === null ? null : last.toString(CURSOR_BASE),
    total,
    searched_to: searchedTo === null ? null : timestamp(searchedTo),
  };
  return json(200, answer);
}

function lineAnswer({ build, ciRun, isRunning, summary }: Line): BuildLine {
  const { commit_hash, branch, node_total, created_at } = (build ?? ciRun)!;
  return {
    build_id: build?.id ?? null,
    ci_run_id: ciRun?.id ?? null,
    ci_run: ciRun?.ci_run ?? null,
    commit_hash,
    branch,
    node_total,
    created_at: timestamp(created_at),
    started_at: timestamp(summary?.started_at ?? ciRun?.created_at ?? created_at),
    is_running: isRunning,
    summary: summary && summaryAnswer(summary),
  };
}

function summaryAnswer(summary: Summary): BuildLineSummary {
  const { kind, wall, floor, files, failed, missing, longest, last } = summary;
  return {
    kind,
    wall: secondsOf(wall),
    floor: secondsOf(floor),
    idle_share: idleShare(summary),
    files,
    failed,
    missing,
    longest: longest && { path: longest.path, seconds: secondsOf(longest.milliseconds) },
    last: last && { node_index: last.node_index, seconds: secondsOf(last.milliseconds) },
    decided_by: decidedBy(summary),
    saved: secondsOf(savedTime(summary)),
  };
}
