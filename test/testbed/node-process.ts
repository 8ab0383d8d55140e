/** The routes that nodes use. */
export const SPLIT = '/v1/build_distributions/subset';
export const QUEUE = '/v1/queues/queue';
export const TEST_QUEUE = '/v2/queues/queue';
export const HEARTBEAT = '/v2/queues/heartbeat';
export const CANCEL = '/v2/queues/cancel';
export const RECORDING = '/v1/build_subsets';

/** In a "test queue" the client reports what failed. */
export type Mode = 'split' | 'queue' | 'test queue';

export interface ProcessOptions<Fields extends object> {
  mode: Mode;
  /** Of each request: those of the node, the id of its CI run, in a test queue `node_uuid`, and whatever else a player wants to say. */
  fields: Fields;
  /** All test files of the suite. */
  paths: readonly string[];
  /** True if the node asks without the list of the files first, and with it where there is no plan yet. Otherwise it begins with the list. */
  connects?: boolean;
  /** Draws the id of each batch of a queue; null: the client sends none. */
  batchUuid?: (() => string) | null;
}

/** Sends a request. Returns the parsed answer, or throws. */
export type Post<Fields extends object> = (path: string, body: Fields & Record<string, unknown>) => Promise<any>;

/** A process of a node that asks for its files. */
export interface NodeProcess {
  /**
   * Asks for the next batch. Returns its files, none at the end of the queue, and the answer that has them. A split is one batch.
   *
   * @param failed the files of the batch before that failed
   */
  next(failed?: readonly string[]): Promise<{ paths: string[]; answer: any }>;
}

/** A process that asks as clients do. It sends nothing until it is told to: its player decides when it runs what, and what failed. */
export function startProcess<Fields extends object>(
  { mode, fields, paths, connects = true, batchUuid = null }: ProcessOptions<Fields>,
  post: Post<Fields>,
): NodeProcess {
  let batch_index = 0;
  let batch_id: unknown = null;
  const isFirst = () => batch_index === 0;
  const ask = (isConnecting: boolean, uuid: object, failed_paths: readonly string[]): Promise<any> => {
    const isListing = isFirst() && !isConnecting;
    const list = isListing && { test_files: paths.map(path => ({ path })) };
    if (mode === 'split') return post(SPLIT, { ...fields, cache_read_attempt: isConnecting, ...list });
    const phase = { ...fields, can_initialize_queue: isFirst(), attempt_connect_to_queue: isConnecting };
    if (mode === 'queue') return post(QUEUE, { ...phase, ...uuid, ...list });
    return post(TEST_QUEUE, { ...phase, batch_index, ...(isListing && { paths }), ...(!isFirst() && { batch_id, failed_paths }) });
  };
  return {
    async next(failed = []) {
      const uuid = batchUuid === null ? {} : { batch_uuid: batchUuid() };
      const isConnecting = isFirst() && connects;
      let answer = await ask(isConnecting, uuid, failed);
      if (isConnecting && answer.code !== undefined) answer = await ask(false, uuid, failed);
      batch_index += 1;
      batch_id = answer.batch_id;
      return { paths: pathsIn(answer), answer };
    },
  };
}

/** The files in an answer. */
function pathsIn({ paths, test_files }: { paths?: unknown; test_files?: unknown }): string[] {
  const files = paths ?? test_files;
  if (!Array.isArray(files)) throw new Error('the answer has no list');
  return files.map((file: string | { path: string }) => (typeof file === 'string' ? file : file.path));
}
