import type { Log } from './ci-runs.js';

/**
 * The figures of a CI run, computed from its requests by the definitions of the guides, and from nothing else. Durations are seconds, and
 * times of nodes are seconds since the start of the build. It shares no code with the server.
 */

export interface NodeFigures {
  start: number | null;
  end: number | null;
  late: number;
  /** Time that its files took, as recorded or as expected. */
  busy: number;
  work: number;
  repeats: number;
  /** Unreported time and gaps. */
  between: number;
  idle: number;
  /** True if the node recorded nothing after its last files. */
  isLost: boolean;
  hasRecorded: boolean;
  /** Its last process got no file, and recorded none. */
  ranNothingAgain: boolean;
  /** The whole seconds of each job: a process that began again is a job of its own. */
  jobs: number[];
  /** Null: fewer files with estimates than tell. */
  slowness: number | null;
  files: number;
  batches: number;
}

export interface Figures {
  startedAt: number;
  isPlanned: boolean;
  isQueue: boolean;
  wall: number;
  evenShare: number;
  longestFile: number;
  floor: number;
  longest: { path: string; seconds: number; node: number };
  nodes: NodeFigures[];
  /** The number of nodes that the build had: those of a queue that came, else all. */
  participants: number;
  idleShare: number;
  nodeSeconds: number;
  idleSeconds: number;
  /** What the nodes ran that nobody had run before. */
  testSeconds: number;
  /** Nodes that ended after recording all that they got, the last one first. */
  ended: { node: number; end: number }[];
  /** By path: the node that had it last; null: none. */
  missing: Map<string, number | null>;
  failed: string[] | null;
  /** When a node first reported a failure, since the start. */
  firstRed: number;
  /** The node that was handed a file last. */
  hadBy: ReadonlyMap<string, number>;
  state: 'running' | 'complete' | 'recorded' | 'failed' | 'missing' | 'partial' | 'unplanned';
  baselines: Record<'round_robin' | 'by_name' | 'one_at_a_time', number>;
  /** Null: files are missing, or nobody planned the build. */
  saved: number | null;
  /** By node: from, to and the number of files of each batch or run. */
  spans: [from: number, to: number, files: number][][];
  seconds: Map<string, number>;
  estimates: Map<string, number | null>;
}

/** Cost of batches as the answer states it. The requests do not show it. */
export interface Cost {
  hidden: number;
  slowdown: number;
}

interface Span {
  node: number;
  from: number;
  to: number;
  files: { path: string; estimate: number | null; seconds: number | null }[];
}

const sum = (values: Iterable<number>) => [...values].reduce((total, each) => total + each, 0);
export const middle = (values: number[]) => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted.length === 0 ? 0 : (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
};
export const toMillis = (seconds: number) => Math.round(1000 * seconds) / 1000;

/** @param now the time at which the CI run is looked at, if it runs */
export function recompute(log: Log, cost: Cost | null, now?: number): Figures {
  const { mode, nodes: count, planned } = log;
  const isQueue = mode === 'queue' || mode === 'reports';
  const estimates = new Map(log.asked.flatMap(({ got }) => got).map(({ path, estimate }) => [path, estimate]));
  const expected = (files: Span['files']) =>
    Math.max(1, cost?.slowdown ?? 1) * sum(files.map(({ estimate }) => estimate ?? 0)) + (cost?.hidden ?? 0) * files.length;

  // Batches: from the request that was answered with it to the next request of its node, or to its recording.
  const spans: Span[] = [];
  const recordedAt = new Map<number, number>();
  for (let node = 0; node < count; node++) {
    let open: Span | null = null;
    let unrecorded: Span[] = [];
    const events = [...log.asked, ...log.recorded].filter(each => each.node === node).sort((a, b) => a.at - b.at);
    for (const event of events) {
      const at = event.at / 1000;
      if ('got' in event) {
        // A process that begins again has left its files.
        if (open) open.to = event.isFirst ? Math.min(at, open.from + expected(open.files)) : at;
        if (event.isFirst) unrecorded = [];
        open = null;
        if (event.got.length === 0) continue;
        open = { node, from: at, to: at, files: event.got.map(file => ({ ...file, seconds: null })) };
        unrecorded.push(open);
        spans.push(open);
      } else {
        if (mode === 'recordings') {
          const span = { node, from: at - sum(event.times.map(({ seconds }) => seconds)), to: at };
          spans.push({ ...span, files: event.times.map(({ path, seconds }) => ({ path, seconds, estimate: null })) });
        }
        if (open) open.to = at;
        open = null;
        for (const { path, seconds } of event.times)
          for (const { files } of unrecorded) for (const file of files) if (file.path === path) file.seconds = seconds;
        unrecorded = [];
        // A job that got nothing moves no end.
        if (event.times.length > 0 || !recordedAt.has(node)) recordedAt.set(node, at);
      }
    }
    if (open && (isQueue || now !== undefined)) open.to = now === undefined ? open.from + expected(open.files) : now / 1000;
  }
  // Nobody knows what a node of a split did that recorded nothing.
  const isKnown = (node: number) => isQueue || now !== undefined || recordedAt.has(node);
  const known = spans.filter(({ node }) => isKnown(node)).sort((a, b) => a.from - b.from || a.node - b.node);

  // A pause of more than five minutes in which no node had files is left out.
  let last = known[0]!.from;
  const points = known.flatMap(({ node, from, to }) => [
    { from, to },
    { from: recordedAt.get(node) ?? to, to: recordedAt.get(node) ?? to },
  ]);
  const pauses = points
    .sort((a, b) => a.from - b.from)
    .flatMap(({ from, to }) => {
      const before = last;
      last = Math.max(last, to);
      return from - before > 300 ? [{ from: before, to: from }] : [];
    });
  const began = mode === 'split' ? log.asked[0]!.at / 1000 : known[0]!.from;
  const clock = (time: number) => time - began - sum(pauses.map(({ from, to }) => (time >= to ? to - from : 0)));
  const paused = sum(pauses.map(({ from, to }) => to - from));
  const wall = toMillis(Math.max(...known.map(({ to }) => to), ...recordedAt.values(), (now ?? 0) / 1000) - began - paused);

  // What ran in each batch. Of a file that ran more than once, the first run that was recorded is work.
  const recorded = new Set(known.flatMap(({ files }) => files.filter(({ seconds }) => seconds !== null).map(({ path }) => path)));
  const hasRun = new Set<string>();
  const runs = known.map(span => {
    const length = span.to - span.from;
    const told = span.files.filter(({ seconds }) => seconds !== null);
    const total = sum(told.map(({ seconds }) => seconds!));
    const guessed = sum(span.files.map(({ estimate }) => estimate ?? 0));
    const files = (told.length > 0 ? told : span.files).map(file => {
      const part = guessed > 0 ? (file.estimate ?? 0) / guessed : 1 / span.files.length;
      const busy = file.seconds === null ? length * part : file.seconds * Math.min(1, length / total);
      const isWork = !hasRun.has(file.path) && (file.seconds !== null || !recorded.has(file.path));
      if (isWork) hasRun.add(file.path);
      return { ...file, busy, isWork, length };
    });
    return { node: span.node, files };
  });

  // How slow each node was: the trimmed geometric mean of actual over estimated time, over that of the usual node.
  const known_ = [...estimates.values()].filter(each => each !== null);
  const least = known_.length === 0 ? 0 : sum(known_) / known_.length / 10;
  const ratios = Array.from({ length: count }, (_, node) => {
    const own = runs.filter(run => run.node === node).flatMap(({ files }) => files);
    const measured = own.filter(({ isWork, seconds, estimate }) => isWork && seconds !== null && estimate !== null && estimate >= least);
    const logs = measured.map(({ seconds, estimate }) => Math.log(seconds! / estimate!)).sort((a, b) => a - b);
    const cut = Math.floor(logs.length / 5);
    const enough = sum(measured.map(({ seconds }) => seconds!)) >= 60 ? 3 : 5;
    return logs.length < enough ? null : sum(logs.slice(cut, logs.length - cut)) / (logs.length - 2 * cut);
  });
  const tellable = ratios.filter(each => each !== null).sort((a, b) => a - b);
  const slowness = ratios.map(each => (each === null ? null : Math.exp(each - tellable[(tellable.length - 1) >> 1]!)));
  const slow = slowness.map(each => (each !== null && each >= 1.15 ? each : 1));

  // The number of nodes of a queue is the most that may come, so a node that never came is not missed.
  const came = new Set(known.map(({ node }) => node)).size;
  const participants = isQueue ? came : count;
  const nodes = Array.from({ length: count }, (_, node): NodeFigures => {
    const own = known.filter(span => span.node === node);
    const files = runs.filter(run => run.node === node).flatMap(run => run.files);
    const at = recordedAt.get(node);
    const none = {
      start: null,
      end: null,
      late: isQueue ? 0 : wall,
      busy: 0,
      work: 0,
      repeats: 0,
      between: 0,
      idle: 0,
      jobs: [],
      slowness: null,
    };
    const had = new Set(spans.filter(span => span.node === node).flatMap(span => span.files.map(({ path }) => path)));
    const asked = log.asked.filter(each => each.node === node);
    const last = asked.at(-1);
    const ranNothingAgain = mode === 'queue' && last?.isFirst === true && last.got.length === 0 && asked.length > 1 && (at ?? 0) < last.at;
    const counts = { hasRecorded: at !== undefined, ranNothingAgain, files: had.size, batches: isQueue ? own.length : 0 };
    if (own.length === 0) return { ...none, ...counts, isLost: false };
    const [start, end] = [clock(own[0]!.from), clock(Math.max(own.at(-1)!.to, at ?? 0))];
    // A client that reports failures says nothing when it gets no file.
    const begins = asked.filter(({ isFirst, got }) => isFirst && (mode === 'queue' || got.length > 0)).map(each => clock(each.at / 1000));
    const ends = [...own.map(span => clock(span.to)), end];
    const jobs = [start, ...begins.slice(1)].map((from, job) => {
      const next = (begins[job + 1] ?? Infinity) + 1e-6;
      return Math.ceil(toMillis(Math.max(from, ...ends.filter(each => each <= next)) - from));
    });
    const isLost = own.at(-1)!.to > (at ?? 0) && now === undefined;
    const work = sum(files.filter(({ isWork }) => isWork).map(({ busy }) => busy));
    const again = sum(files.filter(({ isWork }) => !isWork).map(({ busy }) => busy));
    const tail = wall - end;
    const between = end - start - work - again;
    return {
      start,
      end,
      late: start,
      work,
      busy: work + again,
      repeats: again + (isLost ? tail : 0),
      between,
      idle: isLost ? 0 : tail,
      isLost,
      jobs,
      slowness: slowness[node]!,
      ...counts,
    };
  });

  const works = runs.flatMap(({ node, files }) => files.filter(({ isWork }) => isWork).map(file => ({ ...file, node })));
  const usual = (file: (typeof works)[number]) => Math.min(file.seconds ?? file.busy, file.length) / slow[file.node]!;
  const longest = works.reduce((most, file) => (usual(file) > usual(most) ? file : most));
  const evenShare = sum(works.map(({ busy, node }) => busy / slow[node]!)) / participants;
  const floor = Math.min(wall, toMillis(Math.max(evenShare, usual(longest))));

  const hadBy = new Map(log.asked.flatMap(({ got, node }) => got.map(({ path }) => [path, node] as const)));
  const failures = new Map<string, boolean>();
  const counted = new Set(recorded);
  for (let node = 0; node < count; node++) {
    const own = log.asked.filter(each => each.node === node);
    for (const [i, { at, failed }] of own.entries()) {
      for (const { path } of own[i - 1]?.got ?? []) {
        if (!failed) continue;
        failures.set(path, failed.includes(path));
        // A file also counts as recorded if its node acknowledged it and has recorded anything since.
        if (!failed.includes(path) && (recordedAt.get(node) ?? 0) >= at / 1000) counted.add(path);
      }
    }
  }
  const missing = new Map(planned.filter(path => !counted.has(path)).map(path => [path, hadBy.get(path) ?? null]));
  const failed = mode === 'reports' ? [...failures].filter(([, hasFailed]) => hasFailed).map(([path]) => path) : null;
  const firstRed = clock(Math.min(...log.asked.flatMap(each => ((each.failed ?? []).length > 0 ? each.at / 1000 : []))));
  const state =
    now !== undefined
      ? 'running'
      : missing.size > 0
        ? 'missing'
        : mode === 'recordings' && nodes.some(({ hasRecorded }) => !hasRecorded)
          ? 'partial'
          : failed && failed.length > 0
            ? 'failed'
            : mode === 'recordings'
              ? 'unplanned'
              : failed
                ? 'complete'
                : 'recorded';

  const seconds = new Map<string, number>();
  for (const { path, seconds: time } of log.recorded.flatMap(({ times }) => times))
    seconds.set(path, Math.max(time, seconds.get(path) ?? 0));
  const baselines = baselinesOf(known, nodes, seconds);
  const methods = [baselines.round_robin, baselines.by_name, ...(isQueue ? [baselines.one_at_a_time] : [])];
  const idleSeconds = sum(nodes.map(({ idle }) => idle));
  return {
    startedAt: Math.round(1000 * began),
    ...{ wall, evenShare, floor, nodes, participants, missing, failed, firstRed, hadBy, state, baselines, seconds, estimates, idleSeconds },
    spans: nodes.map((_, node) =>
      known.filter(span => span.node === node).map(({ from, to, files }) => [clock(from), clock(to), files.length]),
    ),
    isPlanned: mode !== 'recordings',
    isQueue,
    longestFile: Math.max(0, usual(longest) - evenShare),
    longest: { path: longest.path, seconds: longest.seconds ?? longest.busy, node: longest.node },
    nodeSeconds: came * wall,
    testSeconds: sum(nodes.map(({ work }) => work)),
    idleShare: idleSeconds / (came * wall),
    saved: missing.size > 0 || mode === 'recordings' ? null : Math.min(...methods) - wall,
    ended: nodes
      .flatMap(({ end, isLost, hasRecorded }, node) => (end === null || isLost || !hasRecorded ? [] : [{ node, end }]))
      .sort((a, b) => b.end - a.end || a.node - b.node),
  };
}

/** The other methods, with the recorded times and the starts of the build. */
function baselinesOf(spans: readonly Span[], nodes: readonly NodeFigures[], times: ReadonlyMap<string, number>): Figures['baselines'] {
  const whole = spans.filter(({ files }) => files.every(({ seconds }) => seconds !== null));
  const pull = Math.max(0, middle(whole.map(({ from, to, files }) => to - from - sum(files.map(({ seconds }) => seconds!)))));
  const starts = nodes.flatMap(({ start }) => start ?? []);
  const files = [...times].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, seconds]) => seconds);
  const all = (partOf: (i: number) => number) =>
    Math.max(
      ...starts.map((start, node) =>
        files.some((_, i) => partOf(i) === node) ? start + pull + sum(files.filter((_, i) => partOf(i) === node)) : 0,
      ),
    );
  const free = [...starts];
  let end = 0;
  for (const file of files) {
    const node = free.indexOf(Math.min(...free));
    free[node]! += pull + file;
    end = Math.max(end, free[node]!);
  }
  return {
    round_robin: all(i => i % starts.length),
    by_name: all(i => Math.floor((i * starts.length) / files.length)),
    one_at_a_time: end,
  };
}

/** No plan tells whether the nodes that recorded nothing had files. */
export const isPartial = ({ isPlanned, nodes }: Figures) => !isPlanned && nodes.some(({ hasRecorded }) => !hasRecorded);

/** The figures of a day, from those of its builds that have ended. */
export function dayOf(builds: readonly Figures[]) {
  const complete = builds.filter(build => build.missing.size === 0 && !isPartial(build));
  const total = (of: (build: Figures) => number) => sum(complete.map(of));
  const jobs = builds.flatMap(({ nodes }) => nodes.flatMap(node => node.jobs));
  const mean = (of: (build: Figures) => number) => (complete.length === 0 ? null : total(of) / complete.length);
  return {
    builds: builds.length,
    incomplete: builds.filter(({ missing }) => missing.size > 0).length,
    unplanned: builds.filter(({ isPlanned }) => !isPlanned).length,
    with_failures: builds.filter(({ failed }) => (failed ?? []).length > 0).length,
    passed: complete.filter(({ isPlanned, failed }) => isPlanned && failed?.length === 0).length,
    // Jobs of incomplete builds are paid, too.
    jobs: jobs.length,
    job_seconds: sum(jobs),
    median_test_seconds: complete.length === 0 ? null : middle(complete.map(({ testSeconds }) => testSeconds)),
    wall: mean(({ wall }) => wall),
    floor: mean(({ floor }) => floor),
    median_wall: complete.length === 0 ? null : middle(complete.map(({ wall }) => wall)),
    idle_share: complete.length === 0 ? null : total(({ idleSeconds }) => idleSeconds) / total(({ nodeSeconds }) => nodeSeconds),
    node_seconds: total(({ nodeSeconds }) => nodeSeconds),
  };
}

/** The times of each file over builds, oldest first. */
export function fileTimes(logs: readonly Log[]): Map<string, number[]> {
  const times = new Map<string, number[]>();
  for (const { recorded } of logs) {
    const last = new Map(recorded.flatMap(({ times }) => times).map(({ path, seconds }) => [path, seconds]));
    for (const [path, seconds] of last) times.set(path, [...(times.get(path) ?? []), seconds]);
  }
  return times;
}
