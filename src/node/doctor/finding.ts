/** Result of a check by `doctor`: something that is as it should be (or worth knowing), may go wrong, or will. */
export interface Finding {
  /** A stable name, such as server.refused. */
  id: string;
  level: 'ok' | 'warning' | 'error';
  sentence: string;
  /** Advice; null: there is nothing to do. */
  remedy: string | null;
}

/** One finding, as the list that a check returns. `warning` and `problem` do the same. */
export function fine(id: string, sentence: string): Finding[] {
  return [{ id, level: 'ok', sentence, remedy: null }];
}

export function warning(id: string, sentence: string, remedy: string): Finding[] {
  return [{ id, level: 'warning', sentence, remedy }];
}

export function problem(id: string, sentence: string, remedy: string): Finding[] {
  return [{ id, level: 'error', sentence, remedy }];
}

/** A value that a CI system or a shell was to replace: `${{ matrix.node }}`, `$(NODE)`, `$CI_NODE_INDEX`, `%NODE%`. */
export function isUnexpanded(text: string): boolean {
  return /\$\{|\$\(|^\$\w+$|^%\w+%$|<%|\{\{/.test(text);
}
