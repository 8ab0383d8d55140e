import type { HandedPiece } from '../../../src/protocol/messages/queue.js';
import { fileOfPiece } from '../../../src/protocol/piece-path.js';

/** The reports of a CI run's nodes that reached the server, as seen by the proxy. */
export class Evidence {
  /** Files that a node recorded, or reported as run and not failed. */
  readonly #reported = new Set<string>();
  /** The same of pieces. */
  readonly #reportedPieces: HandedPiece[] = [];
  /** The pieces that nodes were handed, by node and path. */
  readonly #pieces = new Map<string, HandedPiece>();
  /** The lists of all test files that nodes sent. */
  readonly #lists = new Set<string>();
  /** The files of each batch of /v2, by node and id. */
  readonly #batches = new Map<string, readonly string[]>();

  /** @param answer null if the answer was lost; the server may have handled the request */
  add(path: string, body: string, answer: { status: number; body: string } | null): void {
    if (answer && answer.status >= 300) return;
    const message = parseObject(body);
    const node = String(message.node_index);
    const list = toList(message.paths ?? message.test_files).map(file => (typeof file === 'string' ? file : pathOf(file)));
    if (path !== '/v1/build_subsets') this.#lists.add(listKey(list));
    if (path === '/v1/build_subsets') {
      for (const file of toList(message.test_files)) this.#report(node, pathOf(file));
    } else if (path === '/v2/queues/queue') {
      this.#acknowledge(node, message);
      const { batch_id, paths, pieces } = parseObject(answer?.body ?? '');
      for (const piece of toList(pieces) as HandedPiece[]) this.#pieces.set(`${node} ${piece.path}`, piece);
      if (typeof batch_id === 'number') this.#batches.set(`${node} ${batch_id}`, toList(paths).map(String));
    }
  }

  /** Reports whether a node recorded a file or a case in it, or reported it as run and not failed. */
  hasReported(unit: string): boolean {
    const [file, name] = unit.split('::') as [string, string?];
    if (this.#reported.has(file)) return true;
    const has = ({ cases, others }: HandedPiece) => (others ? !others.includes(name!) : cases.includes(name!));
    return name !== undefined && this.#reportedPieces.some(piece => fileOfPiece(piece.path) === file && has(piece));
  }

  /** True if a node was handed a piece of a file. */
  get hasPieces(): boolean {
    return this.#pieces.size > 0;
  }

  /** Reports whether a node sent this list of all test files. */
  hasList(files: readonly string[]): boolean {
    return this.#lists.has(listKey(files));
  }

  #acknowledge(node: string, { batch_id, failed_paths }: Record<string, unknown>): void {
    if (typeof batch_id !== 'number') return;
    const failed = new Set(toList(failed_paths));
    for (const path of this.#batches.get(`${node} ${batch_id}`) ?? []) if (!failed.has(path)) this.#report(node, path);
  }

  #report(node: string, path: string): void {
    const piece = this.#pieces.get(`${node} ${path}`);
    if (piece) this.#reportedPieces.push(piece);
    else this.#reported.add(path);
  }
}

export function parseObject(text: string): Record<string, unknown> {
  try {
    return (JSON.parse(text) as Record<string, unknown> | null) ?? {};
  } catch {
    return {};
  }
}

const listKey = (files: readonly string[]): string => [...files].sort().join('\n');
const toList = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
const pathOf = (file: unknown): string => String((file as { path?: unknown }).path);
