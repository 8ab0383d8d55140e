/** The requests of CI nodes that the trials send. */

/** A placeholder in bodies. It is replaced by the number of the round, with as many digits. */
export const ROUND = '[round-----]';

/** The default number of nodes of a build. */
export const NODES = 8;

/** Part of the answer to every pull that returns files. */
export const FILES_IN_ANSWER = '"test_files":[{';

/** The replacement of `ROUND`. */
export function roundDigits(round: number): string {
  return String(round).padStart(ROUND.length, '0');
}

/** The parameters of every request of a node. */
export function nodeFields(kind: string, build: number | string, node_index: number, node_total = NODES) {
  return {
    commit_hash: commitHash(`${kind}-${build}-`),
    branch: 'main',
    node_total,
    node_index,
    user_seat: 'Ja** D** <ja**@ex*****.co*>',
  };
}

export function commitHash(text: string): string {
  return text.padEnd(40, '0');
}

export function testPath(file: number): string {
  return `spec/features/area_${zeroPadded(file % 37, 2)}/some_feature_${zeroPadded(file, 6)}_spec.rb`;
}

/** A path about as long as those of real suites: 62 characters. */
export function longTestPath(file: number): string {
  return `spec/features/area_${zeroPadded(file % 37, 2)}/checkout/some_feature_${zeroPadded(file, 6)}_works_spec.rb`;
}

export function testFiles(count: number, pathOf = testPath) {
  return { test_files: [...Array(count).keys()].map(file => ({ path: pathOf(file) })) };
}

export function pullBody(kind: string, queue: number | string, node_index: number, node_total = NODES) {
  return {
    ...nodeFields(kind, queue, node_index, node_total),
    can_initialize_queue: false,
    attempt_connect_to_queue: false,
    fixed_queue_split: false,
    node_build_id: typeof queue === 'number' ? String(1_000_000 + queue) : queue,
    batch_uuid: `00000000-0000-4000-8000-${ROUND}`,
  };
}

export function createQueueBody(kind: string, queue: number | string, node_total = NODES) {
  return { ...pullBody(kind, queue, 0, node_total), batch_uuid: null, can_initialize_queue: true };
}

/** Requests a split, a new one for each build. */
export function splitBody(kind: string, build: number | string, node_total = NODES) {
  return {
    ...nodeFields(kind, build, 0, node_total),
    ci_build_id: String(build),
    fixed_test_suite_split: true,
    cache_read_attempt: false,
  };
}

function zeroPadded(value: number, count: number): string {
  return String(value).padStart(count, '0');
}
